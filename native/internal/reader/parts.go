package reader

import "strings"

// Most lines of most texts hold no secret, and a cheap look tells so. Only the others are worth the patterns.

// part is some lines of a text, and why they are looked at.
type part struct {
	start, end                                int
	isNamed, hasAddress, hasColons, hasEquals bool
}

// linesAfter is how many lines a name may stand above its value.
const linesAfter = 2

// partsOf returns the lines that may hold a secret; lines that follow each other are one part.
func partsOf(text string) []part {
	var parts []part
	at, wanted := 0, 0
	for line := range strings.Lines(text) {
		p := part{start: at, end: at + len(line)}
		at += len(line)
		p.isNamed = hasHint(line) || containsAny(line, unnamed)
		p.hasAddress = hasAddress(line)
		p.hasColons = strings.Count(line, ":") > 3 || strings.Contains(line, ":{SHA}")
		p.hasEquals = len(line) > 20 && strings.Contains(line, "=")
		if p.isNamed {
			wanted = linesAfter + 1
		}
		if wanted == 0 && !p.hasAddress && !p.hasColons && !p.hasEquals {
			continue
		}
		wanted = max(0, wanted-1)
		if n := len(parts); n > 0 && parts[n-1].end == p.start {
			last := &parts[n-1]
			last.end = p.end
			last.isNamed = last.isNamed || p.isNamed
			last.hasAddress = last.hasAddress || p.hasAddress
			last.hasColons = last.hasColons || p.hasColons
			last.hasEquals = last.hasEquals || p.hasEquals
			continue
		}
		parts = append(parts, p)
	}
	return parts
}

// hasHint looks for a word that names of secrets have.
func hasHint(text string) bool {
	for i := 0; i+2 < len(text); i++ {
		rest := text[i:]
		switch text[i] | 0x20 {
		case 'p':
			if startsFold(rest, "pass") || startsFold(rest, "pwd") || startsFold(rest, "psk") || startsFold(rest, "pat") && (len(rest) == 3 || !isLetter(rest[3])) {
				return true
			}
		case 's':
			if startsFold(rest, "secret") {
				return true
			}
		case 't':
			if startsFold(rest, "token") {
				return true
			}
		case 'k':
			if startsFold(rest, "key") {
				return true
			}
		case 'a':
			if startsFold(rest, "auth") {
				return true
			}
		case 'c':
			if startsFold(rest, "cred") || startsFold(rest, "cookie") {
				return true
			}
		case 'd':
			if startsFold(rest, "dsn") || startsFold(rest, "dockerc") {
				return true
			}
		case 'r':
			if startsFold(rest, "rootpw") {
				return true
			}
		case 'b':
			if startsFold(rest, "bearer") || startsFold(rest, "bindpw") {
				return true
			}
		}
	}
	return false
}

func startsFold(text, word string) bool {
	return len(text) >= len(word) && strings.EqualFold(text[:len(word)], word)
}

func hasFold(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0]|0x20 && startsFold(text[i:], word) {
			return true
		}
	}
	return false
}
