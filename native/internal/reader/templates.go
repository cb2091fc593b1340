package reader

import "fleetaudit.dev/native/internal/tree"

// Pod templates are found by their shape, so that one at a place that no table names is noticed instead of missed.

// Groups whose objects hold patterns or schemas of pods, not pods.
var patternGroups = map[string]bool{
	"kyverno.io": true, "policies.kyverno.io": true, "templates.gatekeeper.sh": true, "constraints.gatekeeper.sh": true,
	"mutations.gatekeeper.sh": true, "admissionregistration.k8s.io": true, "apiextensions.k8s.io": true,
}

// findTemplates returns the paths of values that hold a pod specification: a map whose spec has containers, or a map
// with containers of its own at another place than spec.
func findTemplates(object *tree.Value) [][]any {
	var found [][]any
	var walk func(v *tree.Value, path []any, depth int)
	walk = func(v *tree.Value, path []any, depth int) {
		switch v.Kind {
		case tree.Object:
			if isPodSpec(v.Get("spec")) {
				found = append(found, path)
				return
			}
			if isPodSpec(v) && lastOf(path) != "spec" {
				found = append(found, path)
				return
			}
			for i := range v.Members {
				m := &v.Members[i]
				if m.Value.Kind == tree.Object || m.Value.Kind == tree.Array {
					walk(&m.Value, extend(path, m.Key), depth+1)
				}
			}
		case tree.Array:
			for i := range v.Items {
				if v.Items[i].Kind == tree.Object || v.Items[i].Kind == tree.Array {
					walk(&v.Items[i], extend(path, i), depth+1)
				}
			}
		}
	}
	walk(object, nil, 0)
	return found
}

// isPodSpec says whether v has a list of containers: maps that name an image or at least themselves.
func isPodSpec(v *tree.Value) bool {
	for _, field := range []string{"containers", "initContainers"} {
		list := v.Get(field)
		if list == nil || list.Kind != tree.Array || len(list.Items) == 0 {
			continue
		}
		whole := true
		for i := range list.Items {
			item := &list.Items[i]
			if item.Kind != tree.Object || !item.Get("image").IsText() && !item.Get("name").IsText() {
				whole = false
				break
			}
		}
		if whole {
			return true
		}
	}
	return false
}

// covered says whether a found path fits one of the patterns; "*" stands for any list index or key. A pattern may lead
// to the pod specification itself or to what holds it.
func covered(path []any, patterns [][]string) bool {
	if lastOf(path) == "containerSet" { // part of a workflow template, which is what a table names
		path = path[:len(path)-1]
	}
	for _, pattern := range patterns {
		if fits(path, pattern) || fits(append(path[:len(path):len(path)], "spec"), pattern) {
			return true
		}
	}
	return false
}

func fits(path []any, pattern []string) bool {
	if len(path) != len(pattern) {
		return false
	}
	for i, want := range pattern {
		if text, ok := path[i].(string); want != "*" && (!ok || text != want) {
			return false
		}
	}
	return true
}
