package evaluator

import (
	"encoding/json"

	"github.com/open-policy-agent/opa/v1/ast"

	"fleetaudit.dev/native/internal/tree"
)

// maxInputDepth is far above what the reader lets through; it protects the stack from other callers.
const maxInputDepth = 5000

var (
	trueTerm  = ast.InternedTerm(true)
	falseTerm = ast.InternedTerm(false)
	nullTerm  = ast.NullTerm()
)

// parseInput builds OPA's own value from JSON in one pass. The usual way (decode to Go values, convert) costs three
// times as much.
func parseInput(raw []byte) (*ast.Term, error) {
	b := inputBuilder{tree.Scanner{Text: string(raw)}}
	term, err := b.term(0)
	if err != nil {
		return nil, err
	}
	if b.Space(); b.Pos != len(b.Text) {
		return nil, b.Fail("text after the end of the document")
	}
	return term, nil
}

type inputBuilder struct {
	tree.Scanner
}

func (b *inputBuilder) term(depth int) (*ast.Term, error) {
	if depth > maxInputDepth {
		return nil, tree.ErrDepth
	}
	switch b.Space() {
	case '{':
		return b.object(depth)
	case '[':
		return b.array(depth)
	case '"':
		text, err := b.String()
		if err != nil {
			return nil, err
		}
		return ast.InternedTerm(text), nil
	case 't':
		return trueTerm, b.Word("true")
	case 'f':
		return falseTerm, b.Word("false")
	case 'n':
		return nullTerm, b.Word("null")
	}
	literal, err := b.Number()
	if err != nil {
		return nil, err
	}
	if interned := ast.InternedIntNumberTermFromString(literal); interned != nil {
		return interned, nil
	}
	return ast.NumberTerm(json.Number(literal)), nil
}

func (b *inputBuilder) array(depth int) (*ast.Term, error) {
	b.Pos++
	var items []*ast.Term
	if b.Space() == ']' {
		b.Pos++
		return ast.ArrayTerm(), nil
	}
	for {
		item, err := b.term(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		switch b.Space() {
		case ',':
			b.Pos++
		case ']':
			b.Pos++
			return ast.ArrayTerm(items...), nil
		default:
			return nil, b.Fail("expected a comma or the end of a list")
		}
	}
}

func (b *inputBuilder) object(depth int) (*ast.Term, error) {
	b.Pos++
	var pairs [][2]*ast.Term
	before, sorted := "", true
	if b.Space() == '}' {
		b.Pos++
		return ast.ObjectTerm(), nil
	}
	for {
		if b.Space() != '"' {
			return nil, b.Fail("expected a key")
		}
		key, err := b.String()
		if err != nil {
			return nil, err
		}
		if b.Space() != ':' {
			return nil, b.Fail("expected a colon after a key")
		}
		b.Pos++
		value, err := b.term(depth + 1)
		if err != nil {
			return nil, err
		}
		sorted = sorted && (len(pairs) == 0 || before < key)
		before = key
		pairs = append(pairs, [2]*ast.Term{ast.InternedTerm(key), value})
		switch b.Space() {
		case ',':
			b.Pos++
		case '}':
			b.Pos++
			if !sorted { // the reader's JSON is sorted, so this is rare
				pairs = lastOfEqual(pairs)
			}
			return ast.ObjectTerm(pairs...), nil
		default:
			return nil, b.Fail("expected a comma or the end of an object")
		}
	}
}

// lastOfEqual drops all but the last of pairs with equal keys.
func lastOfEqual(pairs [][2]*ast.Term) [][2]*ast.Term {
	places := make(map[ast.Value]int, len(pairs))
	kept := pairs[:0]
	for _, pair := range pairs {
		if place, seen := places[pair[0].Value]; seen {
			kept[place] = pair
			continue
		}
		places[pair[0].Value] = len(kept)
		kept = append(kept, pair)
	}
	return kept
}
