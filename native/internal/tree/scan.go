package tree

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner reads JSON tokens from text, for more than one kind of builder.
type Scanner struct {
	Text string
	Pos  int
}

// SyntaxError is wrong JSON, with the byte offset where it was seen.
type SyntaxError struct {
	Offset int
	Reason string
}

func (e *SyntaxError) Error() string { return e.Reason }

// ErrDepth is returned for documents nested deeper than allowed.
var ErrDepth = errors.New("nested too deep")

// ErrRange is returned for numbers that JSON readers cannot hold.
var ErrRange = errors.New("number out of range")

// Fail makes a syntax error at the current place.
func (s *Scanner) Fail(format string, args ...any) error {
	return &SyntaxError{Offset: s.Pos, Reason: fmt.Sprintf(format, args...)}
}

// Space skips white space and returns the next byte, 0 at the end.
func (s *Scanner) Space() byte {
	for s.Pos < len(s.Text) {
		switch c := s.Text[s.Pos]; c {
		case ' ', '\t', '\n', '\r':
			s.Pos++
		default:
			return c
		}
	}
	return 0
}

// Word consumes one of true, false, null.
func (s *Scanner) Word(word string) error {
	if !strings.HasPrefix(s.Text[s.Pos:], word) {
		return s.Fail("unexpected text where a value should be")
	}
	s.Pos += len(word)
	return nil
}

// String consumes a string; the current byte must be a quote.
func (s *Scanner) String() (string, error) {
	start := s.Pos + 1
	for i := start; i < len(s.Text); i++ {
		switch c := s.Text[i]; {
		case c == '"':
			s.Pos = i + 1
			return s.Text[start:i], nil
		case c == '\\':
			return s.escaped(start, i)
		case c < ' ':
			s.Pos = i
			return "", s.Fail("control character in a string")
		}
	}
	s.Pos = len(s.Text)
	return "", s.Fail("string without an end")
}

func (s *Scanner) escaped(start, i int) (string, error) {
	var b strings.Builder
	b.WriteString(s.Text[start:i])
	for i < len(s.Text) {
		c := s.Text[i]
		switch {
		case c == '"':
			s.Pos = i + 1
			return b.String(), nil
		case c < ' ':
			s.Pos = i
			return "", s.Fail("control character in a string")
		case c != '\\':
			b.WriteByte(c)
			i++
			continue
		}
		r, width, ok := escape(s.Text[i:])
		if !ok {
			s.Pos = i
			return "", s.Fail("unknown escape in a string")
		}
		b.WriteRune(r)
		i += width
	}
	s.Pos = len(s.Text)
	return "", s.Fail("string without an end")
}

// escape decodes one escape sequence, surrogate pairs joined and lone surrogates replaced.
func escape(text string) (rune, int, bool) {
	if len(text) < 2 {
		return 0, 0, false
	}
	switch text[1] {
	case '"', '\\', '/':
		return rune(text[1]), 2, true
	case 'b':
		return '\b', 2, true
	case 'f':
		return '\f', 2, true
	case 'n':
		return '\n', 2, true
	case 'r':
		return '\r', 2, true
	case 't':
		return '\t', 2, true
	case 'u':
		return unicodeEscape(text)
	}
	return 0, 0, false
}

func unicodeEscape(text string) (rune, int, bool) {
	first, ok := hex4(text)
	if !ok {
		return 0, 0, false
	}
	if !utf16.IsSurrogate(first) {
		return first, 6, true
	}
	if second, ok := hex4(text[6:]); ok {
		if joined := utf16.DecodeRune(first, second); joined != utf8.RuneError {
			return joined, 12, true
		}
	}
	return utf8.RuneError, 6, true
}

func hex4(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 32)
	return rune(n), err == nil
}

// Number consumes a number and returns its literal.
func (s *Scanner) Number() (string, error) {
	start := s.Pos
	digits := func() bool {
		from := s.Pos
		for s.Pos < len(s.Text) && s.Text[s.Pos] >= '0' && s.Text[s.Pos] <= '9' {
			s.Pos++
		}
		return s.Pos > from
	}
	at := func(chars string) bool {
		if s.Pos < len(s.Text) && strings.IndexByte(chars, s.Text[s.Pos]) >= 0 {
			s.Pos++
			return true
		}
		return false
	}
	at("-")
	whole := s.Pos
	if !digits() {
		return "", s.Fail("unexpected text where a value should be")
	}
	if s.Text[whole] == '0' && s.Pos > whole+1 {
		return "", s.Fail("number with a leading zero")
	}
	if at(".") && !digits() {
		return "", s.Fail("number without digits after the point")
	}
	if at("eE") {
		at("+-")
		if !digits() {
			return "", s.Fail("number without digits in its exponent")
		}
	}
	return s.Text[start:s.Pos], nil
}

// PlainNumber rewrites a literal as Kubernetes' JSON reader and writer would: 64-bit integers as they are, anything
// else as the shortest double.
func PlainNumber(literal string) (string, error) {
	if !strings.ContainsAny(literal, ".eE") {
		if len(literal) < 18 {
			if literal == "-0" {
				return "0", nil
			}
			return literal, nil
		}
		if _, err := strconv.ParseInt(literal, 10, 64); err == nil {
			return literal, nil
		}
		if _, err := strconv.ParseUint(literal, 10, 64); err == nil {
			return literal, nil
		}
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil || math.IsInf(f, 0) {
		return "", ErrRange
	}
	if f == 0 {
		return "0", nil // of both signs
	}
	return formatFloat(f), nil
}

// formatFloat writes a double as encoding/json does.
func formatFloat(f float64) string {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	text := strconv.FormatFloat(f, format, -1, 64)
	if format == 'e' {
		if n := len(text); n >= 4 && text[n-4:n-1] == "e-0" {
			text = text[:n-2] + text[n-1:]
		}
	}
	return text
}

// Skip jumps over one object or list without building it, and returns the offset behind it; false when the text is
// no such JSON, as far as a look at its brackets and strings can tell.
func (s *Scanner) Skip() (int, bool) {
	depth := 0
	for i := s.Pos; i < len(s.Text); i++ {
		switch s.Text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '"':
			end := skipString(s.Text, i+1)
			if end < 0 {
				return 0, false
			}
			i = end
		}
	}
	return 0, false
}

// skipString returns the offset of the closing quote, or -1.
func skipString(text string, at int) int {
	for at < len(text) {
		n := strings.IndexByte(text[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		slashes := 0
		for at-slashes > 0 && text[at-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
		at++
	}
	return -1
}
