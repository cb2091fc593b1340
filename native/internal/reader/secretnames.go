package reader

import (
	"strings"
	"unicode"
)

// Words that make a name the name of a secret value, and words that, standing last, make it the name of something
// about a secret instead (where it is, how long it lives).
var (
	secretWords = set("password passwd pwd passphrase passcode secret token apikey credential credentials apitoken authtoken accesstoken secretkey privatekey accesskey clientsecret bearer pat")
	keyOwners   = set("api access secret private auth signing encryption client account master license admin session shared storage ssh deploy app application hmac webhook service write read")
	aboutWords  = set("path file filename dir directory name names ref reference url uri endpoint expiry expiration expires ttl seconds secs minutes hours ms timeout duration limit limits count counts num number size length len enabled enable disabled required mode type types kind provider issuer id ids header mount mountpath volume key keys policy format algorithm alg version class audience budget interval rotation rate prefix suffix location source store engine method template namespace label selector host port user username scope realm only first last pool max min per chunk batch window bytes index field env placeholder manager rotator operator controller injector backend plugin projected automount review reviews")
)

func set(words string) map[string]bool {
	made := map[string]bool{}
	for _, word := range strings.Fields(words) {
		made[word] = true
	}
	return made
}

// namesSecret says whether a variable, flag or key of this name holds a secret value.
func namesSecret(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 || len(words) > 12 {
		return false
	}
	last := words[len(words)-1]
	if last == "key" && len(words) > 1 && keyOwners[words[len(words)-2]] {
		return !(len(words) == 2 && words[0] == "secret") || isLoud(name) // "secretKey" alone mostly names a key of a Secret
	}
	if aboutWords[last] {
		return false
	}
	for _, word := range words {
		if secretWords[word] {
			return true
		}
	}
	return false
}

// isLoud says whether a name is written as environment variables are.
func isLoud(name string) bool { return name == strings.ToUpper(name) }

// wordsOf cuts a name at separators and at changes of case: HF_TOKEN, hfToken and hf-token are alike.
func wordsOf(name string) []string {
	var words []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	var before rune
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsUpper(before) && i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
			word.WriteRune(r)
		default:
			word.WriteRune(r)
		}
		before = r
	}
	flush()
	return words
}

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
