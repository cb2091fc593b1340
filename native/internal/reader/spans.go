package reader

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// span is the place of a secret inside a longer text.
type span struct {
	start, end int
	reason     string
}

// maxNesting is how deep values in values are looked into.
const maxNesting = 5

// finder gathers the spans of one text, which may be a part of another.
type finder struct {
	text   string
	whole  string
	offset int // of the text in the whole
	found  []span
}

// A secret given on a command line or in a short text: --api-key=x, password=x, TOKEN=x, --api-key x, "token": "x".
var (
	inline   = regexp.MustCompile(`(?:^|[\s'"&?;,:(/])(?:--?|_)?([A-Za-z][A-Za-z0-9_.-]{0,60})=("[^"]*"|'[^']*'|[^\s'"&;]+)`)
	header   = regexp.MustCompile(`(?i)\b(?:x-[a-z-]*(?:token|key|secret)|api-key)\s*:\s*([A-Za-z0-9._~+/=-]{6,})`)
	jsonPair = regexp.MustCompile(`\\*"([A-Za-z_][\w.:-]{0,80})\\*"\s*:\s*\\*(?:"((?:[^"\\\n]|\\[^"\n]|\\")*?)\\*"(?:\s*[,}\]\r\n]|$)|(\d{4,}))`)
	hashed   = regexp.MustCompile(`(\$apr1\$[^$\s]{1,8}\$[./A-Za-z0-9]{22}|\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}|\$[56]\$(?:rounds=\d+\$)?[^$\s]{1,16}\$[./A-Za-z0-9]{43,86})`)
)

// spansIn finds the secrets in an argument, a script, a file or any other text, in order and without overlaps.
func spansIn(text string) []span {
	if holdsPrivateKey(text) {
		return []span{{0, len(text), reasonPrivateKey}}
	}
	f := finder{text: text}
	f.commands()
	f.known()
	for _, p := range partsOf(text) {
		f.part(p)
	}
	return settled(f.found)
}

// part looks closely at some lines.
func (f *finder) part(p part) {
	inner := finder{text: f.text[p.start:p.end], whole: f.text, offset: p.start}
	if p.hasAddress || p.isNamed {
		inner.addresses()
	}
	if p.isNamed {
		inner.pairs()
		inner.lines()
	}
	if p.hasColons {
		inner.each(pgpass, reasonConfigValue, func(value string) bool { return isValue(value) && value != "*" })
		inner.each(userHash, reasonConfigValue, always)
	}
	if p.hasEquals && !p.isNamed {
		inner.random()
	}
	for _, s := range inner.found {
		f.found = append(f.found, span{p.start + s.start, p.start + s.end, s.reason})
	}
}

func (f *finder) add(start, end int, reason string) {
	for start < end && (f.text[start] == '"' || f.text[start] == '\'') {
		start++
	}
	for end > start && (f.text[end-1] == '"' || f.text[end-1] == '\'') {
		end--
	}
	if start < end && !strings.HasPrefix(f.text[start:], marker) {
		f.found = append(f.found, span{start, end, reason})
	}
}

// each adds the last group of every match whose secret it is.
func (f *finder) each(pattern *regexp.Regexp, reason string, isSecret func(value string) bool) {
	for _, match := range pattern.FindAllStringSubmatchIndex(f.text, -1) {
		last := len(match) - 2
		if value := f.text[match[last]:match[last+1]]; isSecret(value) {
			f.add(match[last], match[last+1], reason)
		}
	}
}

// named adds the values of pairs whose name says that they are secrets.
func (f *finder) named(pattern *regexp.Regexp, isSecret func(name, value string) bool) {
	for _, match := range pattern.FindAllStringSubmatchIndex(f.text, -1) {
		for group := 4; group+1 < len(match); group += 2 {
			if match[group] >= 0 && isSecret(f.text[match[2]:match[3]], f.text[match[group]:match[group+1]]) {
				f.add(match[group], match[group+1], reasonArgValue)
			}
		}
	}
}

func always(string) bool { return true }

func isValue(value string) bool { return isLiteral(value) && !isFormat(value) }

// known finds tokens that their shape gives away.
func (f *finder) known() {
	if slices.ContainsFunc(tokenHints, func(hint string) bool { return strings.Contains(f.text, hint) }) {
		f.each(knownToken, reasonToken, always)
	}
	if strings.Contains(f.text, "$apr1$") || strings.Contains(f.text, "$2") || strings.Contains(f.text, "$5$") || strings.Contains(f.text, "$6$") {
		f.each(hashed, reasonToken, always)
	}
}

// addresses finds credentials in URLs and headers.
func (f *finder) addresses() {
	f.found = append(f.found, credentialsIn(f.text)...)
	if !strings.Contains(f.text, ":") {
		return
	}
	if hasFold(f.text, "authorization") {
		f.each(bearer, reasonToken, isValue)
	}
	if hasFold(f.text, "x-") || hasFold(f.text, "api-key") {
		f.each(header, reasonToken, isValue)
	}
}

// assigned finds name=value, and inside a value too: --set=db.password=x, -e A=b,TOKEN=x.
func (f *finder) assigned(start, end, depth int) {
	for _, match := range inline.FindAllStringSubmatchIndex(f.text[start:end], -1) {
		name, value := f.text[start+match[2]:start+match[3]], f.text[start+match[4]:start+match[5]]
		switch {
		case isGivenValue(name, value) || looksRandom(strings.Trim(value, `"'`)):
			f.add(start+match[4], start+match[5], reasonArgValue)
		case depth < maxNesting && strings.Contains(value, "="):
			f.assigned(start+match[4], start+match[5], depth+1)
		}
	}
}

// json finds "name": "value", and in JSON that is the value of JSON too.
func (f *finder) json(start, end, depth int) {
	for _, match := range jsonPair.FindAllStringSubmatchIndex(f.text[start:end], -1) {
		group := 4
		if match[group] < 0 {
			group = 6
		}
		from, to := start+match[group], start+match[group+1]
		switch name := f.text[start+match[2] : start+match[3]]; {
		case isQuotedValue(name, f.text[from:to]):
			f.add(from, to, reasonArgValue)
		case depth < maxNesting && strings.Contains(f.text[from:to], "\""):
			f.json(from, start+match[1], depth+1)
		}
	}
}

// random finds values that are too random to be anything but keys.
func (f *finder) random() {
	if strings.Contains(f.text, "=") {
		for _, match := range inline.FindAllStringSubmatchIndex(f.text, -1) {
			if looksRandom(strings.Trim(f.text[match[4]:match[5]], `"'`)) {
				f.add(match[4], match[5], reasonArgValue)
			}
		}
	}
}

func isNamedValue(name, value string) bool {
	return hasHint(name) && isAssignedSecret(value) && holdsSecret(name, strings.Trim(value, `"'`))
}

// isGivenValue is for command lines and ini files, where secret-key is the key itself.
func isGivenValue(name, value string) bool {
	return isNamedValue(name, value) || isSecretKey(name) && isAssignedSecret(value)
}

// isQuotedValue takes values whose quotes a pattern has taken off.
func isQuotedValue(name, value string) bool { return !isFormat(value) && holdsSecret(name, value) }

// settled sorts spans and joins those that overlap.
func settled(found []span) []span {
	slices.SortFunc(found, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	var kept []span
	for _, s := range found {
		if n := len(kept); n > 0 && s.start < kept[n-1].end {
			kept[n-1].end = max(kept[n-1].end, s.end)
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// cover replaces spans by their markers.
func cover(text string, found []span) string {
	var out strings.Builder
	at := 0
	for _, s := range found {
		out.WriteString(text[at:s.start])
		out.WriteString(markerFor(s.reason, text[s.start:s.end]))
		at = s.end
	}
	out.WriteString(text[at:])
	return out.String()
}

// inlineSecret is the reason of the first secret inside a text, empty for none.
func inlineSecret(text string) string {
	if found := spansIn(text); len(found) > 0 {
		return found[0].reason
	}
	return ""
}
