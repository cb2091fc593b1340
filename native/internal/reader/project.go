package reader

import "fleetaudit.dev/native/internal/tree"

// project copies identity and the named fields of an object: what rules about other objects may see of it.
func project(object *tree.Value, fields [][]string) tree.Value {
	out := tree.Value{Kind: tree.Object}
	for _, key := range []string{"apiVersion", "kind"} {
		if v := object.Get(key); v != nil {
			out.Set(key, *v)
		}
	}
	kept := tree.Value{Kind: tree.Object}
	for _, key := range []string{"name", "namespace", "labels", "annotations"} {
		if v := object.Get("metadata").Get(key); v != nil {
			kept.Set(key, *v)
		}
	}
	out.Set("metadata", kept)
	for _, field := range fields {
		if picked, ok := pick(object, field); ok {
			merge(&out, picked)
		}
	}
	return out
}

// pick keeps one path of a value. Lists on the way keep their length, so that indexes stay true.
func pick(v *tree.Value, path []string) (tree.Value, bool) {
	if len(path) == 0 {
		return *v, true
	}
	switch v.Kind {
	case tree.Object:
		if path[0] == "*" {
			out := tree.Value{Kind: tree.Object}
			for i := range v.Members {
				if picked, ok := pick(&v.Members[i].Value, path[1:]); ok {
					out.Members = append(out.Members, tree.Member{Key: v.Members[i].Key, Value: picked})
				}
			}
			return out, true
		}
		child := v.Get(path[0])
		if child == nil {
			return tree.Value{}, false
		}
		picked, ok := pick(child, path[1:])
		if !ok {
			return tree.Value{}, false
		}
		return tree.Value{Kind: tree.Object, Members: []tree.Member{{Key: path[0], Value: picked}}}, true
	case tree.Array:
		rest := path
		if path[0] == "*" {
			rest = path[1:]
		}
		out := tree.Value{Kind: tree.Array, Items: make([]tree.Value, len(v.Items))}
		for i := range v.Items {
			if picked, ok := pick(&v.Items[i], rest); ok {
				out.Items[i] = picked
			} else {
				out.Items[i] = tree.Value{Kind: tree.Object}
			}
		}
		return out, true
	default:
		return tree.Value{}, false
	}
}

// merge adds what other has to into, deeply. Values that are no containers are equal by construction.
func merge(into *tree.Value, other tree.Value) {
	if into.Kind == tree.Array && other.Kind == tree.Array && len(into.Items) == len(other.Items) {
		items := append([]tree.Value(nil), into.Items...)
		for i := range items {
			merge(&items[i], other.Items[i])
		}
		into.Items = items
		return
	}
	if into.Kind != tree.Object || other.Kind != tree.Object {
		*into = other
		return
	}
	into.Members = append([]tree.Member(nil), into.Members...)
	for _, m := range other.Members {
		if mine := into.Get(m.Key); mine != nil {
			merge(mine, m.Value)
		} else {
			into.Set(m.Key, m.Value)
		}
	}
}
