package reader

import (
	"regexp"
	"strings"
	"unicode"
)

// isLiteral says whether the value under a secret's name can be the secret itself, and not a reference to it, a
// place holder or a switch.
func isLiteral(value string) bool {
	trimmed := strings.TrimSpace(value)
	switch strings.ToLower(trimmed) {
	case "", "true", "false", "yes", "no", "on", "off", "null", "none", "nil", "auto", "optional", "required", "enabled", "disabled", "default", "string", "any", "*", "?*", "0", "1":
		return false
	}
	switch {
	case strings.HasPrefix(trimmed, marker):
		return false
	case strings.HasPrefix(trimmed, "$(") && strings.HasSuffix(trimmed, ")"),
		strings.HasPrefix(trimmed, "${") && strings.HasSuffix(trimmed, "}"),
		strings.HasPrefix(trimmed, "{{") && strings.HasSuffix(trimmed, "}}"),
		strings.HasPrefix(trimmed, "<") && strings.HasSuffix(trimmed, ">"),
		len(trimmed) > 1 && trimmed[0] == '$' && isName(trimmed[1:]):
		return false
	}
	return !isPath(trimmed)
}

func isName(text string) bool {
	for _, r := range text {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}

// isPath says whether a value is the path of a file, which only says where a secret is.
func isPath(text string) bool {
	if strings.HasPrefix(text, "file:") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "~/") {
		return true
	}
	if len(text) < 2 || text[0] != '/' {
		return false
	}
	root, _, _ := strings.Cut(text[1:], "/")
	switch root {
	case "app", "bin", "data", "dev", "etc", "home", "mnt", "opt", "proc", "root", "run", "secrets", "secret", "srv", "sys", "tmp", "usr", "var", "vault", "workspace", "config", "certs", "tls":
		return true
	}
	return false
}

// What is filled in at run time: {{ .x }}, ${X}, $(x), $VAR, {name}, %s, %(name)s, %VAR%.
var format = regexp.MustCompile(`\{\{|\$[{(]|^\$\w+$|\$[A-Z_]{2,}|\{[A-Za-z_][\w.]*\}|^\{\}$|^%(?:[sdv]$|\(|\w+%$)`)

// isFormat says whether a value is filled in at run time.
func isFormat(text string) bool { return strings.ContainsAny(text, "{$%") && format.MatchString(text) }

var (
	code    = regexp.MustCompile("`" + `|^[\w.]+(?:\(.*\)|\[.*\])$|^[\[{(<|>]|\|\s|\s[=+]\s|^(?:not|new|await|os|env|process|System|self)[. ]`)
	prose   = regexp.MustCompile(`(?i)(?:^|\s)(?:the|your|of|for|is|are|must|to|an?|be|required|here|this|if|and|or|not|with|from|used|by|in|on|can|will|should)(?:\s|$)`)
	tag     = regexp.MustCompile(`^(?:[&!]\S*\s+)+`)
	comment = regexp.MustCompile(`\s#.*$`)
)

// isAssignedSecret judges the right-hand side of an assignment. Code that fetches the value is no value.
func isAssignedSecret(value string) bool {
	value = strings.TrimRight(strings.TrimSpace(comment.ReplaceAllString(value, "")), ",;")
	value = tag.ReplaceAllString(value, "")
	quoted := len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0]
	value = strings.Trim(value, `"'`)
	if !isLiteral(value) || isFormat(value) {
		return false
	}
	return quoted || !code.MatchString(value) && !isSentence(value)
}

// isSentence tells a remark from a passphrase, which has few words, and none that hold sentences together.
func isSentence(text string) bool {
	words := strings.Count(strings.TrimSpace(text), " ") + 1
	return words > 1 && (words > 6 || prose.MatchString(text))
}
