package reader

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Files that an object carries as text: ini, env, properties, YAML, TOML, netrc, .pgpass, redis.conf, manifests.

var (
	prefixes   = []string{"export ", "set ", "local ", "ENV ", "ARG ", "- "}
	block      = regexp.MustCompile(`^[|>][+-]?\d?[+-]?\s*$`)
	directive  = regexp.MustCompile(`(?m)^[ \t]*([A-Za-z][\w-]{2,40})[ \t]+("[^"\n]*"|'[^'\n]*'|\S+)[ \t]*;?[ \t]*\r?$`)
	inLine     = regexp.MustCompile(`(?m)[ \t]((?:insecure-)?password|passwd)[ \t]+(\S+)`)
	netrc      = regexp.MustCompile(`(?m)(?:^|\s)(?:password|passwd)\s+([^\s"']+)`)
	isNetrc    = regexp.MustCompile(`(?m)(?:^|[\s"'])(?:machine\s+\S+|default)\s+(?:login|password|account)\s`)
	pgpass     = regexp.MustCompile(`(?m)^[^\s:#]+:(?:\d{1,5}|\*):[^\s:]+:[^\s:]+:(\S+)\s*$`)
	userHash   = regexp.MustCompile(`(?m)^[^\s:#]+:(\{SHA\}[A-Za-z0-9+/=]{20,})\s*$`)
	isSecret   = regexp.MustCompile(`(?m)(?:^|[{,])\s*["']?kind["']?\s*:\s*["']?Secret["']?\s*(?:[,}]|$)`)
	dockerAuth = regexp.MustCompile(`\\*"(?:auth|identitytoken|registrytoken|password)\\*"\s*:\s*\\*"([^"\\\n]+)`)
)

// lines finds secrets in the text of a file.
func (f *finder) lines() {
	f.assignments()
	f.named(directive, isDirective)
	f.named(inLine, isDirective)
	if strings.Contains(f.text, "passw") && isNetrc.MatchString(f.whole) {
		f.each(netrc, reasonConfigValue, always)
	}
	if strings.Contains(f.text, "\"") && strings.Contains(f.whole, "auths") {
		f.each(dockerAuth, reasonConfigValue, always)
	}
	if strings.Contains(f.text, "Secret") && isSecret.MatchString(f.text) {
		f.found = append(f.found, span{-f.offset, len(f.whole) - f.offset, reasonSecretData})
	}
}

// assignments finds name = value and name: value, alone on their line.
func (f *finder) assignments() {
	at, blockEnd := 0, 0
	for line := range strings.Lines(f.text) {
		start := at
		at += len(line)
		if f.offset+start < blockEnd {
			continue
		}
		name, from, separator := assignedName(line)
		if separator == 0 {
			continue
		}
		value := strings.TrimRight(line[from:], "\r\n \t")
		if namesSecret(name) && (block.MatchString(value) || separator == ':' && value == "") {
			blockEnd = f.nextLines(f.offset+start, indentOf(line), value == "")
			continue
		}
		isKey := isSecretKey(name) && isAssignedSecret(value) && (separator == '=' || !isObjectName(value) || isKeyLike(value))
		if isKey || isNamedValue(name, value) && !(separator == ':' && isReferenceName(name, value)) {
			f.add(start+from, start+from+len(strings.TrimRight(value, " \t,;")), reasonConfigValue)
		}
	}
}

// assignedName reads a line up to its value: the name, where the value begins, and what stands between; 0 for none.
func assignedName(line string) (name string, from int, separator byte) {
	cut := strings.IndexAny(line, ":=")
	if cut < 0 || cut > 120 {
		return "", 0, 0
	}
	name = strings.TrimSpace(line[:cut])
	for _, prefix := range prefixes {
		name = strings.TrimSpace(strings.TrimPrefix(name, prefix))
	}
	name = strings.Trim(name, `"'`)
	if name == "" || !isLetter(name[0]) && name[0] != '_' || !hasHint(name) {
		return "", 0, 0
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; !isLetter(c) && !(c >= '0' && c <= '9') && c != '_' && c != '.' && c != '-' {
			return "", 0, 0
		}
	}
	from = cut + 1
	for from < len(line) && (line[from] == ' ' || line[from] == '\t') {
		from++
	}
	return name, from, line[cut]
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// nextLines adds the indented lines below a key, the text of a YAML block or the items of a list, and returns where
// they end.
func (f *finder) nextLines(key, depth int, isList bool) int {
	at := key
	for line := range strings.Lines(f.whole[key:]) {
		if strings.TrimSpace(line) != "" && at > key {
			item, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
			if indentOf(line) <= depth && !(isList && isItem && indentOf(line) == depth) {
				return at
			}
			start, end := at+indentOf(line), at+len(strings.TrimRight(line, "\r\n \t"))
			if isList {
				if !isItem || !isAssignedSecret(item) || strings.Contains(item, ": ") {
					return at
				}
				start = end - len(item)
			}
			f.found = append(f.found, span{start - f.offset, end - f.offset, reasonConfigValue})
		}
		at += len(line)
	}
	return at
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// isDirective judges a line of two words: a setting of redis.conf and its like, or the start of a sentence.
func isDirective(name, value string) bool {
	if !isNamedValue(name, value) {
		return false
	}
	switch name {
	case "requirepass", "masterauth":
		return true
	}
	return strings.ContainsAny(value, "0123456789!@#$%^&*+=~\"'")
}

// decoded is the text behind base64, where all of a value is that.
func decoded(value string) (string, bool) {
	trimmed := strings.TrimSpace(value)
	if len(trimmed) < 16 || len(trimmed)%4 != 0 || strings.ContainsAny(trimmed, " .:-_{") {
		return "", false
	}
	raw, err := base64.StdEncoding.DecodeString(trimmed)
	if err != nil || !utf8.Valid(raw) {
		return "", false
	}
	text := string(raw)
	for _, r := range text {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return "", false
		}
	}
	return text, true
}
