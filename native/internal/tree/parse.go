package tree

import (
	"slices"
	"strings"
)

// Parsed is a document and what was seen while parsing it.
type Parsed struct {
	Root Value
	// Duplicates is true when an object held a key twice; the last value stands.
	Duplicates bool
	// End is the offset just after the value.
	End int
}

// Parse reads one JSON value from text, starting at offset. maxDepth bounds the nesting.
func Parse(text string, offset, maxDepth int) (Parsed, error) {
	b := builder{Scanner: Scanner{Text: text, Pos: offset}, maxDepth: maxDepth}
	var parsed Parsed
	b.Space()
	if err := b.value(&parsed.Root, 0); err != nil {
		return Parsed{End: b.Pos}, err
	}
	parsed.Duplicates, parsed.End = b.duplicates, b.Pos
	return parsed, nil
}

type builder struct {
	Scanner
	maxDepth   int
	duplicates bool
}

func (b *builder) value(into *Value, depth int) (err error) {
	if depth > b.maxDepth {
		return ErrDepth
	}
	switch c := b.Space(); c {
	case '{':
		return b.object(into, depth)
	case '[':
		return b.array(into, depth)
	case '"':
		into.Kind = String
		into.Text, err = b.String()
		return err
	case 't':
		into.Kind, into.Truth = Bool, true
		return b.Word("true")
	case 'f':
		into.Kind = Bool
		return b.Word("false")
	case 'n':
		into.Kind = Null
		return b.Word("null")
	case 0:
		if b.Pos >= len(b.Text) {
			return b.Fail("unexpected end")
		}
	}
	into.Kind = Number
	literal, err := b.Number()
	if err != nil {
		return err
	}
	into.Text, err = PlainNumber(literal)
	return err
}

func (b *builder) array(into *Value, depth int) error {
	into.Kind = Array
	b.Pos++
	if b.Space() == ']' {
		b.Pos++
		return nil
	}
	for {
		into.Items = append(into.Items, Value{})
		if err := b.value(&into.Items[len(into.Items)-1], depth+1); err != nil {
			return err
		}
		switch b.Space() {
		case ',':
			b.Pos++
		case ']':
			b.Pos++
			return nil
		default:
			return b.Fail("expected a comma or the end of a list")
		}
	}
}

func (b *builder) object(into *Value, depth int) error {
	into.Kind = Object
	b.Pos++
	if b.Space() == '}' {
		b.Pos++
		return nil
	}
	sorted := true
	for {
		if b.Space() != '"' {
			return b.Fail("expected a key")
		}
		key, err := b.String()
		if err != nil {
			return err
		}
		if b.Space() != ':' {
			return b.Fail("expected a colon after a key")
		}
		b.Pos++
		if n := len(into.Members); n > 0 && into.Members[n-1].Key >= key {
			sorted = false
		}
		into.Members = append(into.Members, Member{Key: key})
		if err := b.value(&into.Members[len(into.Members)-1].Value, depth+1); err != nil {
			return err
		}
		switch b.Space() {
		case ',':
			b.Pos++
			continue
		case '}':
			b.Pos++
		default:
			return b.Fail("expected a comma or the end of an object")
		}
		break
	}
	if !sorted {
		b.order(into)
	}
	return nil
}

// order sorts members by key; of equal keys the last one stands.
func (b *builder) order(into *Value) {
	slices.SortStableFunc(into.Members, func(x, y Member) int { return strings.Compare(x.Key, y.Key) })
	kept := into.Members[:0]
	for i := range into.Members {
		if n := len(kept); n > 0 && kept[n-1].Key == into.Members[i].Key {
			kept[n-1] = into.Members[i]
			b.duplicates = true
			continue
		}
		kept = append(kept, into.Members[i])
	}
	into.Members = kept
}
