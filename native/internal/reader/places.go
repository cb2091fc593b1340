package reader

import (
	"go.yaml.in/yaml/v3"
)

// place is a point in a file. Lines and columns count from 1; line 0 means not known.
type place struct {
	line, column int
	approximate  bool
}

// placeOf walks a path from a node. When the path ends early, the nearest existing ancestor is given, marked
// approximate. A block mapping or list is shown at its key, anything else where it stands.
func placeOf(root *yaml.Node, path []any) place {
	at := root
	best := place{line: root.Line, column: root.Column}
	for _, segment := range path {
		holder := follow(at)
		if holder == nil {
			best.approximate = true
			return best
		}
		switch s := segment.(type) {
		case string:
			key, value := member(holder, s)
			if key == nil {
				best.approximate = true
				return best
			}
			at = value
			if isBlock(value) || value.Line == 0 {
				value = key
			}
			best = place{line: value.Line, column: value.Column}
		case int:
			if holder.Kind != yaml.SequenceNode || s < 0 || s >= len(holder.Content) {
				best.approximate = true
				return best
			}
			at = holder.Content[s]
			best = place{line: at.Line, column: at.Column}
		}
	}
	return best
}

func isBlock(n *yaml.Node) bool {
	return (n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode) && n.Style&yaml.FlowStyle == 0
}

// descend walks a path and returns the node there, nil when there is none.
func descend(root *yaml.Node, path []any) *yaml.Node {
	at := follow(root)
	for _, segment := range path {
		if at == nil {
			return nil
		}
		switch s := segment.(type) {
		case string:
			_, value := member(at, s)
			at = follow(value)
		case int:
			if at.Kind != yaml.SequenceNode || s < 0 || s >= len(at.Content) {
				return nil
			}
			at = follow(at.Content[s])
		}
	}
	return at
}

// duplicate is a key that stands more than once in one mapping.
type duplicate struct {
	key   string
	path  []any
	lines []int
}

// duplicatesIn lists duplicate keys below a node. A key that overrides a merged one is no duplicate. except is not
// walked into.
func duplicatesIn(root *yaml.Node, base int, except *yaml.Node) []duplicate {
	var found []duplicate
	var walk func(n *yaml.Node, path []any)
	walk = func(n *yaml.Node, path []any) {
		if n == nil || n == except {
			return
		}
		switch n.Kind {
		case yaml.MappingNode:
			lines := map[string][]int{}
			var order []string
			for i := 0; i+1 < len(n.Content); i += 2 {
				if isMerge(n.Content[i]) {
					continue
				}
				key := plainKey(n.Content[i])
				if len(lines[key]) == 1 {
					order = append(order, key)
				}
				lines[key] = append(lines[key], base+n.Content[i].Line-1)
			}
			for _, key := range order {
				found = append(found, duplicate{key, extend(path, key), lines[key]})
			}
			for i := 0; i+1 < len(n.Content); i += 2 {
				if isMerge(n.Content[i]) {
					walk(n.Content[i+1], path)
				} else {
					walk(n.Content[i+1], extend(path, plainKey(n.Content[i])))
				}
			}
		case yaml.SequenceNode:
			for i, item := range n.Content {
				walk(item, extend(path, i))
			}
		}
	}
	walk(follow(root), nil)
	return found
}

// extend copies a path with one more segment.
func extend(path []any, segment any) []any {
	longer := make([]any, len(path)+1)
	copy(longer, path)
	longer[len(path)] = segment
	return longer
}
