package reader

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// mayAlias is a quick look for an anchor and an alias, so that only such documents pay for counting.
func mayAlias(text string) bool { return hasIndicator(text, '&') && hasIndicator(text, '*') }

func hasIndicator(text string, indicator byte) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != indicator {
			continue
		}
		next := text[i+1]
		word := next >= '0' && next <= '9' || next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z' || next == '_' || next == '-' || next >= 0x80
		if !word {
			continue
		}
		if i == 0 {
			return true
		}
		switch text[i-1] {
		case ' ', '\t', '\n', '\r', '[', '{', ',', ':', '-', '?':
			return true
		}
	}
	return false
}

// problem is why something could not be read.
type problem struct {
	code    string
	message string
	line    int
}

// checkAliases counts how many nodes a document has once every alias is replaced by what it stands for. Only nodes
// that come from aliases count against the limit: a long file without aliases is fine.
func checkAliases(root *yaml.Node, limit int) *problem {
	counter := aliasCounter{sizes: map[*yaml.Node]int{}, limit: limit}
	counter.size(root)
	return counter.problem
}

type aliasCounter struct {
	sizes   map[*yaml.Node]int // expanded sizes; -1 while being counted
	extra   int
	limit   int
	problem *problem
}

func (c *aliasCounter) size(n *yaml.Node) int {
	if c.problem != nil || n == nil {
		return 0
	}
	if n.Kind == yaml.AliasNode {
		if c.sizes[n.Alias] < 0 {
			c.problem = &problem{codeRecursiveAlias, "an anchor holds an alias of itself", n.Line}
			return 0
		}
		size := c.size(n.Alias)
		if c.extra += size; c.extra > c.limit && c.problem == nil {
			c.problem = &problem{codeAliasBomb, fmt.Sprintf("its aliases expand to more than %d nodes", c.limit), n.Line}
		}
		return size
	}
	if known, seen := c.sizes[n]; seen {
		return known
	}
	c.sizes[n] = -1
	size := 1
	for _, child := range n.Content {
		size += c.size(child)
	}
	c.sizes[n] = size
	return size
}
