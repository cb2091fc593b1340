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

// A secret given on a command line: --api-key=x, password=x, TOKEN=x, --api-key x.
var (
	inline     = regexp.MustCompile(`(?:^|[\s'"&?;])(?:--?)?([A-Za-z][A-Za-z0-9_.-]{1,60})=("[^"]*"|'[^']*'|[^\s'"&;]+)`)
	inlineFlag = regexp.MustCompile(`(?:^|\s)--?([A-Za-z][A-Za-z0-9_.-]{1,60})[ \t]+("[^"]*"|'[^']*'|[^\s'"-][^\s'"]*)`)
	header     = regexp.MustCompile(`(?i)\b(?:x-[a-z-]*(?:token|key|secret)|api-key)\s*:\s*([A-Za-z0-9._~+/=-]{6,})`)
)

// spansIn finds the secrets in an argument or a script, in order and without overlaps.
func spansIn(text string) []span {
	if len(text) < 8 {
		return nil
	}
	if reason := secretIn(text); reason == reasonPrivateKey {
		return []span{{0, len(text), reason}}
	}
	var found []span
	add := func(start, end int, reason string) {
		for start < end && (text[start] == '"' || text[start] == '\'') {
			start++
		}
		for end > start && (text[end-1] == '"' || text[end-1] == '\'') {
			end--
		}
		if start < end && !strings.HasPrefix(text[start:], marker) {
			found = append(found, span{start, end, reason})
		}
	}
	each := func(pattern *regexp.Regexp, reason string, secret func(match []int) bool) {
		for _, match := range pattern.FindAllStringSubmatchIndex(text, -1) {
			if last := len(match) - 2; secret(match) {
				add(match[last], match[last+1], reason)
			}
		}
	}
	isValue := func(match []int) bool {
		value := text[match[len(match)-2]:match[len(match)-1]]
		return isLiteral(value) && !isFormat(value)
	}
	if strings.Contains(text, "://") {
		each(urlCredentials, reasonURL, isValue)
		each(urlToken, reasonURL, isValue)
	}
	if strings.Contains(strings.ToLower(text), "authorization") {
		each(bearer, reasonToken, isValue)
	}
	each(header, reasonToken, isValue)
	if slices.ContainsFunc(tokenHints, func(hint string) bool { return strings.Contains(text, hint) }) {
		each(knownToken, reasonToken, func([]int) bool { return true })
	}
	isNamed := func(match []int) bool {
		return namesSecret(text[match[2]:match[3]]) && isAssignedSecret(text[match[4]:match[5]])
	}
	each(inline, reasonArgValue, func(match []int) bool {
		return isNamed(match) || looksRandom(strings.Trim(text[match[4]:match[5]], `"'`))
	})
	each(inlineFlag, reasonArgValue, isNamed)
	return settled(found)
}

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
