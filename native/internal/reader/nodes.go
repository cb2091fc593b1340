package reader

import (
	"strings"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"

	"fleetaudit.dev/native/internal/tree"
)

// Nodes carry places only. Values always come from the Kubernetes parser: the two disagree on some scalars.

// nodesOf parses a document's places; nil when that is not possible. Lines count from the start of the chunk.
func nodesOf(c chunk) (root *yaml.Node) {
	defer func() {
		if recover() != nil {
			root = nil
		}
	}()
	if c.isJSON {
		return jsonNodes(c.text)
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(c.text), &document); err != nil || len(document.Content) == 0 {
		return nil
	}
	return document.Content[0]
}

// follow resolves an alias to what it stands for.
func follow(n *yaml.Node) *yaml.Node {
	for hops := 0; n != nil && n.Kind == yaml.AliasNode && hops < 100; hops++ {
		n = n.Alias
	}
	return n
}

// plainKey is a mapping key as the Kubernetes parser names it in JSON.
func plainKey(key *yaml.Node) string {
	key = follow(key)
	if key == nil || key.Kind != yaml.ScalarNode {
		return ""
	}
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if key.Style&quoted != 0 || isOrdinaryWord(key.Value) {
		return key.Value
	}
	converted, err := sigs.YAMLToJSON([]byte("? " + key.Value + "\n: 0\n"))
	if err != nil {
		return key.Value
	}
	parsed, err := tree.Parse(string(converted), 0, 2)
	if err != nil || len(parsed.Root.Members) != 1 {
		return key.Value
	}
	return parsed.Root.Members[0].Key
}

// isOrdinaryWord says whether a plain scalar is a string in every dialect of YAML.
func isOrdinaryWord(text string) bool {
	if text == "" || !(text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z') {
		return false
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return false
	}
	return true
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && (key.Tag == "!!merge" || key.Style == 0)
}

// member finds a mapping's key and value by name: own keys first, the last of equal ones, then merged mappings.
func member(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	return memberWithin(mapping, name, 0)
}

func memberWithin(mapping *yaml.Node, name string, depth int) (key, value *yaml.Node) {
	mapping = follow(mapping)
	if mapping == nil || mapping.Kind != yaml.MappingNode || depth > 20 {
		return nil, nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		k := mapping.Content[i]
		if !isMerge(k) && plainKey(k) == name {
			key, value = k, mapping.Content[i+1]
		}
	}
	if key != nil {
		return key, value
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if !isMerge(mapping.Content[i]) {
			continue
		}
		merged := follow(mapping.Content[i+1])
		if merged != nil && merged.Kind == yaml.SequenceNode {
			for _, one := range merged.Content {
				if key, value = memberWithin(one, name, depth+1); key != nil {
					return key, value
				}
			}
			continue
		}
		if key, value = memberWithin(merged, name, depth+1); key != nil {
			return key, value
		}
	}
	return nil, nil
}
