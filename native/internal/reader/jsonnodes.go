package reader

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"fleetaudit.dev/native/internal/tree"
)

// jsonNodes gives JSON the same places that YAML has; the YAML parser itself does not take every JSON text.
func jsonNodes(text string) *yaml.Node {
	b := placeBuilder{Scanner: tree.Scanner{Text: text}, line: 1}
	node, err := b.node(0)
	if err != nil {
		return nil
	}
	return node
}

type placeBuilder struct {
	tree.Scanner
	seen      int // offset up to which lines are counted
	line      int
	lineStart int
}

const maxPlaceDepth = 10000

func (b *placeBuilder) here(kind yaml.Kind) *yaml.Node {
	passed := b.Text[b.seen:b.Pos]
	if n := strings.Count(passed, "\n"); n > 0 {
		b.line += n
		b.lineStart = b.seen + strings.LastIndexByte(passed, '\n') + 1
	}
	b.seen = b.Pos
	column := len([]rune(b.Text[b.lineStart:b.Pos])) + 1
	return &yaml.Node{Kind: kind, Line: b.line, Column: column}
}

func (b *placeBuilder) node(depth int) (*yaml.Node, error) {
	if depth > maxPlaceDepth {
		return nil, tree.ErrDepth
	}
	switch c := b.Space(); c {
	case '{', '[':
		return b.container(c, depth)
	case '"':
		return b.text()
	case 't':
		node := b.here(yaml.ScalarNode)
		return node, b.Word("true")
	case 'f':
		node := b.here(yaml.ScalarNode)
		return node, b.Word("false")
	case 'n':
		node := b.here(yaml.ScalarNode)
		return node, b.Word("null")
	}
	node := b.here(yaml.ScalarNode)
	_, err := b.Number()
	return node, err
}

func (b *placeBuilder) text() (*yaml.Node, error) {
	node := b.here(yaml.ScalarNode)
	node.Style = yaml.DoubleQuotedStyle
	var err error
	node.Value, err = b.String()
	return node, err
}

func (b *placeBuilder) container(open byte, depth int) (*yaml.Node, error) {
	kind, closing := yaml.MappingNode, byte('}')
	if open == '[' {
		kind, closing = yaml.SequenceNode, ']'
	}
	node := b.here(kind)
	node.Style = yaml.FlowStyle
	b.Pos++
	if b.Space() == closing {
		b.Pos++
		return node, nil
	}
	for {
		if kind == yaml.MappingNode {
			if b.Space() != '"' {
				return nil, b.Fail("expected a key")
			}
			key, err := b.text()
			if err != nil {
				return nil, err
			}
			if b.Space() != ':' {
				return nil, b.Fail("expected a colon after a key")
			}
			b.Pos++
			node.Content = append(node.Content, key)
		}
		value, err := b.node(depth + 1)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, value)
		switch b.Space() {
		case ',':
			b.Pos++
		case closing:
			b.Pos++
			return node, nil
		default:
			return nil, b.Fail("expected a comma or an end")
		}
	}
}
