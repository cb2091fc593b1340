package evaluator

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"fleetaudit.dev/child/wire"
)

// Outcomes, one letter each on the wire.
const (
	outcomePass  = 'p'
	outcomeFail  = 'f'
	outcomeWarn  = 'w'
	outcomeError = 'e'
	outcomeSkip  = 's'
)

const (
	maxViolations = 1000
	maxMessage    = 4096
	maxValueBytes = 8192
	maxValueDepth = 64
)

// answer is what one rule said of one object.
type answer struct {
	outcome    byte
	code       string // of an error
	message    string // of an error
	violations []byte // MessagePack array, for fail and warn
}

func errorAnswer(code, message string) answer {
	if len(message) > maxMessage {
		message = message[:maxMessage]
	}
	return answer{outcome: outcomeError, code: code, message: message}
}

// judge reads the two comprehensions of a question.
func judge(rule *ruleState, applies, violations *ast.Term) answer {
	asked, ok := applies.Value.(*ast.Array)
	if !ok || asked.Len() != 1 {
		return errorAnswer("undefined", "applies is undefined")
	}
	does, ok := asked.Elem(0).Value.(ast.Boolean)
	if !ok {
		return errorAnswer("bad_answer", "applies is no boolean")
	}
	if !does {
		return answer{outcome: outcomeSkip}
	}
	found, ok := violations.Value.(*ast.Array)
	if !ok || found.Len() != 1 {
		return errorAnswer("undefined", "violations is undefined")
	}
	set, ok := found.Elem(0).Value.(ast.Set)
	if !ok {
		return errorAnswer("bad_answer", "violations is no set")
	}
	if set.Len() == 0 {
		return answer{outcome: outcomePass}
	}
	certain, doubts := apart(set)
	if len(certain) == 0 {
		return errorAnswer("undecided", doubts)
	}
	encoded, err := encodeViolations(certain)
	if err != nil {
		return errorAnswer("bad_answer", err.Error())
	}
	if rule.WarnOnly {
		return answer{outcome: outcomeWarn, violations: encoded}
	}
	return answer{outcome: outcomeFail, violations: encoded}
}

var undecidedKey = ast.StringTerm("undecided")

// apart separates violations from members that say `undecided`: what can't be judged takes no verdict away from what can.
// Where there is no violation, the messages of the others, in the set's order, say why the pair is undecided.
func apart(set ast.Set) (certain []*ast.Term, doubts string) {
	var told []string
	for _, member := range set.Slice() {
		if object, ok := member.Value.(ast.Object); ok && isTrue(object.Get(undecidedKey)) {
			if message, ok := termValue(object.Get(ast.StringTerm("message"))).(ast.String); ok {
				told = append(told, string(message))
			}
			continue
		}
		certain = append(certain, member)
	}
	return certain, strings.Join(told, "; ")
}

func isTrue(term *ast.Term) bool { return termValue(term) == ast.Boolean(true) }

func termValue(term *ast.Term) ast.Value {
	if term == nil {
		return nil
	}
	return term.Value
}

func encodeViolations(members []*ast.Term) ([]byte, error) {
	shown := members[:min(len(members), maxViolations)]
	b := wire.AppendArray(nil, len(shown))
	for _, member := range shown {
		object, ok := member.Value.(ast.Object)
		if !ok {
			return nil, fmt.Errorf("a violation is no object")
		}
		var err error
		if b, err = appendViolation(b, object); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendViolation appends a map of path, message, container, seen and expected.
func appendViolation(b []byte, object ast.Object) ([]byte, error) {
	var path, message, container, seen, expected *ast.Term
	for _, key := range object.Keys() {
		name, _ := key.Value.(ast.String)
		value := object.Get(key)
		switch name {
		case "path":
			path = value
		case "message":
			message = value
		case "container":
			container = value
		case "seen":
			seen = value
		case "expected":
			expected = value
		case "undecided": // not true, or it would stand apart
		default:
			return nil, fmt.Errorf("a violation has the unknown key %v", key)
		}
	}
	b = wire.AppendMap(b, 5)
	b, err := appendPath(wire.AppendString(b, "path"), path)
	if err != nil {
		return nil, err
	}
	if b, err = appendText(b, "message", message, true); err != nil {
		return nil, err
	}
	if b, err = appendText(b, "container", container, false); err != nil {
		return nil, err
	}
	b = appendCapped(wire.AppendString(b, "seen"), seen)
	return appendCapped(wire.AppendString(b, "expected"), expected), nil
}

func appendPath(b []byte, path *ast.Term) ([]byte, error) {
	if path == nil {
		return nil, fmt.Errorf("a violation has no path")
	}
	array, ok := path.Value.(*ast.Array)
	if !ok {
		return nil, fmt.Errorf("the path of a violation is no array")
	}
	b = wire.AppendArray(b, array.Len())
	for i := range array.Len() {
		switch segment := array.Elem(i).Value.(type) {
		case ast.String:
			b = wire.AppendString(b, string(segment))
		case ast.Number:
			n, ok := segment.Int64()
			if !ok || n < 0 {
				return nil, fmt.Errorf("the path of a violation has the index %v", segment)
			}
			b = wire.AppendInt(b, n)
		default:
			return nil, fmt.Errorf("the path of a violation has a segment that is neither text nor number")
		}
	}
	return b, nil
}

func appendText(b []byte, name string, term *ast.Term, required bool) ([]byte, error) {
	b = wire.AppendString(b, name)
	if term == nil {
		if required {
			return nil, fmt.Errorf("a violation has no %s", name)
		}
		return wire.AppendString(b, ""), nil
	}
	text, ok := term.Value.(ast.String)
	if !ok {
		return nil, fmt.Errorf("the %s of a violation is no text", name)
	}
	return wire.AppendString(b, clip(string(text), maxMessage)), nil
}

// clip cuts text at a character boundary.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && text[limit]&0xc0 == 0x80 {
		limit--
	}
	return text[:limit]
}

// appendCapped appends any value, or a note in its stead when it is too long to show.
func appendCapped(b []byte, term *ast.Term) []byte {
	if term == nil {
		return wire.AppendNil(b)
	}
	start := len(b)
	b, fits := appendTerm(b, term, 0)
	if !fits {
		return wire.AppendString(b[:start], "(a value nested too deep to show)")
	}
	if size := len(b) - start; size > maxValueBytes {
		return wire.AppendString(b[:start], "(a value of "+strconv.Itoa(size)+" bytes)")
	}
	return b
}

// appendTerm appends a value; false when it is nested too deep for readers.
func appendTerm(b []byte, term *ast.Term, depth int) ([]byte, bool) {
	if depth > maxValueDepth {
		return b, false
	}
	fits := true
	item := func(t *ast.Term) {
		if fits {
			b, fits = appendTerm(b, t, depth+1)
		}
	}
	switch v := term.Value.(type) {
	case ast.Null:
		b = wire.AppendNil(b)
	case ast.Boolean:
		b = wire.AppendBool(b, bool(v))
	case ast.String:
		b = wire.AppendString(b, string(v))
	case ast.Number:
		b = appendNumber(b, v)
	case *ast.Array:
		b = wire.AppendArray(b, v.Len())
		v.Foreach(item)
	case ast.Set:
		b = wire.AppendArray(b, v.Len())
		for _, member := range v.Slice() {
			item(member)
		}
	case ast.Object:
		b = wire.AppendMap(b, v.Len())
		for _, key := range v.Keys() {
			if name, ok := key.Value.(ast.String); ok {
				b = wire.AppendString(b, string(name))
			} else {
				b = wire.AppendString(b, key.String())
			}
			item(v.Get(key))
		}
	default:
		b = wire.AppendString(b, term.String())
	}
	return b, fits
}

// appendNumber keeps 64-bit integers exact; a number that no double holds travels as text.
func appendNumber(b []byte, n ast.Number) []byte {
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		return wire.AppendInt(b, i)
	}
	if u, err := strconv.ParseUint(string(n), 10, 64); err == nil {
		return wire.AppendUint(b, u)
	}
	if f, err := strconv.ParseFloat(string(n), 64); err == nil && !math.IsInf(f, 0) {
		return wire.AppendFloat(b, f)
	}
	return wire.AppendString(b, string(n))
}

// appendAnswers encodes one object's answers: a letter per rule, then details of those that need any.
func appendAnswers(b []byte, answers []answer) []byte {
	letters := make([]byte, len(answers))
	details := 0
	for i := range answers {
		letters[i] = answers[i].outcome
		if answers[i].outcome != outcomePass && answers[i].outcome != outcomeSkip {
			details++
		}
	}
	b = wire.AppendArray(b, 2)
	b = wire.AppendString(b, string(letters))
	b = wire.AppendArray(b, details)
	for i := range answers {
		a := &answers[i]
		switch a.outcome {
		case outcomePass, outcomeSkip:
		case outcomeError:
			b = wire.AppendArray(b, 4)
			b = wire.AppendInt(b, int64(i))
			b = wire.AppendString(b, a.code)
			b = wire.AppendString(b, a.message)
			b = wire.AppendArray(b, 0)
		default:
			b = wire.AppendArray(b, 4)
			b = wire.AppendInt(b, int64(i))
			b = wire.AppendString(b, "")
			b = wire.AppendString(b, "")
			b = append(b, a.violations...)
		}
	}
	return b
}
