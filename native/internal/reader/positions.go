package reader

import (
	"encoding/json"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"fleetaudit.dev/child/serve"
	"fleetaudit.dev/child/wire"
)

// wanted asks for places in one document of a file.
type wanted struct {
	Document int     `json:"document"`
	Item     string  `json:"item"`
	Paths    [][]any `json:"paths"`
}

// positions answers a batch of files with the places asked of each: per file an array per wanted entry, in it one
// [line, column, approximate] per path. Line 0 means not known.
func (h *Handler) positions(m wire.Message, pool *serve.Pool) error {
	fields := wire.NewFields(m.Payload)
	type request struct {
		data   []byte
		wanted []wanted
	}
	requests := make([]request, fields.Count(8))
	for i := range requests {
		requests[i].data = fields.Bytes()
		if err := json.Unmarshal(fields.Bytes(), &requests[i].wanted); err != nil {
			return err
		}
	}
	if err := fields.End(); err != nil {
		return err
	}
	payload := wire.AppendArray(nil, len(requests))
	for _, r := range requests {
		text, err := plainText(r.data)
		if err != nil {
			text = ""
		}
		chunks := split(text)
		pool.Then(func(*wire.Writer) error {
			payload = wire.AppendArray(payload, len(r.wanted))
			return nil
		})
		for _, part := range byDocument(r.wanted, chunks) {
			pool.Submit(func(slot *serve.Slot) serve.Emit {
				slot.Begin(0, nil)
				encoded := part.encode()
				return func(*wire.Writer) error {
					payload = append(payload, encoded...)
					return nil
				}
			})
		}
	}
	pool.Then(func(out *wire.Writer) error { return out.Send(wire.TypeDone, m.ID, payload) })
	return nil
}

// documentPlaces are consecutive wanted entries, each with the chunk of its document.
type documentPlaces struct {
	wanted []wanted
	chunks []chunk
}

// byDocument cuts the wanted entries into tasks. Entries of one document stay together, so that it is parsed once.
func byDocument(all []wanted, chunks []chunk) []documentPlaces {
	var parts []documentPlaces
	var current documentPlaces
	size := 0
	for i, w := range all {
		var c chunk
		if w.Document >= 1 && w.Document <= len(chunks) {
			c = chunks[w.Document-1]
		}
		same := i > 0 && all[i-1].Document == w.Document
		if !same && size > bytesPerTask {
			parts = append(parts, current)
			current, size = documentPlaces{}, 0
		}
		if !same {
			size += len(c.text)
		}
		current.wanted = append(current.wanted, w)
		current.chunks = append(current.chunks, c)
	}
	if len(current.wanted) > 0 {
		parts = append(parts, current)
	}
	return parts
}

func (p documentPlaces) encode() []byte {
	var b []byte
	var root *yaml.Node
	for i, w := range p.wanted {
		c := p.chunks[i]
		if i == 0 || p.wanted[i-1].Document != w.Document {
			root = nil
			if c.text != "" {
				c.isJSON = startsLikeJSON(c.text)
				if root = nodesOf(c); root == nil && c.isJSON {
					c.isJSON = false
					root = nodesOf(c)
				}
			}
		}
		b = wire.AppendArray(b, len(w.Paths))
		var object *yaml.Node
		if root != nil {
			object = itemNode(root, w.Item)
		}
		for _, path := range w.Paths {
			b = appendPlace(b, object, c, normalPath(path))
		}
	}
	return b
}

func appendPlace(b []byte, object *yaml.Node, c chunk, path []any) []byte {
	found := place{approximate: true}
	switch {
	case object != nil:
		found = placeOf(object, path)
		found.line += c.line - 1
	case c.text != "":
		found.line = contentLine(c)
	}
	b = wire.AppendArray(b, 3)
	b = wire.AppendInt(b, int64(found.line))
	b = wire.AppendInt(b, int64(found.column))
	return wire.AppendBool(b, found.approximate)
}

// itemNode walks an item path such as items[0].items[2]. The last step is not resolved, so that an item that is an alias
// is shown where it stands in the list.
func itemNode(root *yaml.Node, item string) *yaml.Node {
	path := itemPath(item)
	if len(path) == 0 {
		return root
	}
	list := descend(root, path[:len(path)-1])
	index, ok := path[len(path)-1].(int)
	if list == nil || !ok || list.Kind != yaml.SequenceNode || index >= len(list.Content) {
		return nil
	}
	return list.Content[index]
}

func itemPath(item string) []any {
	var path []any
	for part := range strings.SplitSeq(item, ".") {
		name, rest, _ := strings.Cut(part, "[")
		if name != "" {
			path = append(path, name)
		}
		for rest != "" {
			digits, after, found := strings.Cut(rest, "]")
			index, err := strconv.Atoi(digits)
			if !found || err != nil || index < 0 {
				return nil
			}
			path = append(path, index)
			rest = strings.TrimPrefix(after, "[")
		}
	}
	return path
}

// normalPath turns JSON numbers into list indexes.
func normalPath(path []any) []any {
	for i, segment := range path {
		if n, ok := segment.(float64); ok {
			path[i] = int(n)
		}
	}
	return path
}
