package reader

import (
	"reflect"
	"testing"
)

const placed = `apiVersion: v1
kind: Pod
metadata:
  name: p
  labels: {on: a, 8090: b, "yes": c}
base: &base
  image: one
  nested: {deep: 1}
spec:
  list:
  - <<: *base
    image: two
  - *base
  text: |
    long
  text: short
  flow: [1, {x: 2}]
`

func TestPlaces(t *testing.T) {
	root := nodesOf(chunk{text: placed, line: 1})
	for name, c := range map[string]struct {
		path []any
		want place
	}{
		"root":                      {nil, place{1, 1, false}},
		"scalar":                    {[]any{"metadata", "name"}, place{4, 9, false}},
		"block mapping at its key":  {[]any{"metadata"}, place{3, 1, false}},
		"flow mapping at its start": {[]any{"metadata", "labels"}, place{5, 11, false}},
		"bare word as key":          {[]any{"metadata", "labels", "true"}, place{5, 16, false}},
		"number as key":             {[]any{"metadata", "labels", "8090"}, place{5, 25, false}},
		"quoted word as key":        {[]any{"metadata", "labels", "yes"}, place{5, 35, false}},
		"list item":                 {[]any{"spec", "list", 0}, place{11, 5, false}},
		"own key before merged":     {[]any{"spec", "list", 0, "image"}, place{12, 12, false}},
		"merged key, where it is":   {[]any{"spec", "list", 0, "nested", "deep"}, place{8, 18, false}},
		"alias item":                {[]any{"spec", "list", 1}, place{13, 5, false}},
		"through an alias":          {[]any{"spec", "list", 1, "image"}, place{7, 10, false}},
		"last of two keys":          {[]any{"spec", "text"}, place{16, 9, false}},
		"missing key: its parent":   {[]any{"metadata", "labels", "none"}, place{5, 11, true}},
		"missing far down":          {[]any{"spec", "nothing", "at", "all"}, place{9, 1, true}},
		"index too large":           {[]any{"spec", "flow", 7}, place{17, 9, true}},
		"index into a mapping":      {[]any{"spec", 0}, place{9, 1, true}},
		"key of a list":             {[]any{"spec", "flow", "x"}, place{17, 9, true}},
		"inside a flow list":        {[]any{"spec", "flow", 1, "x"}, place{17, 17, false}},
	} {
		if got := placeOf(root, c.path); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestPlacesInJSON(t *testing.T) {
	text := "{\n\t\"a\": {\"b\\n\": [1,\n  \"ü\", true]},\n \"c\": null}"
	root := nodesOf(chunk{text: text, line: 1, isJSON: true})
	if root == nil {
		t.Fatal("not parsed")
	}
	for _, c := range []struct {
		path []any
		want place
	}{
		{[]any{"a"}, place{2, 7, false}},
		{[]any{"a", "b\n", 0}, place{2, 16, false}},
		{[]any{"a", "b\n", 2}, place{3, 8, false}},
		{[]any{"c"}, place{4, 7, false}},
	} {
		if got := placeOf(root, c.path); got != c.want {
			t.Errorf("%v: %v, want %v", c.path, got, c.want)
		}
	}
}

func TestDuplicates(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []duplicate
	}{
		"none":                                {"a: 1\nb: 2\n", nil},
		"plain":                               {"a: 1\na: 2\na: 3\n", []duplicate{{"a", []any{"a"}, []int{1, 2, 3}}}},
		"nested in a list":                    {"x:\n- {k: 1, k: 2}\n", []duplicate{{"k", []any{"x", 0, "k"}, []int{2, 2}}}},
		"one key in two notations":            {"on: 1\n\"true\": 2\n", []duplicate{{"true", []any{"true"}, []int{1, 2}}}},
		"an override of a merged key is none": {"a: &a {k: 1}\nb:\n  <<: *a\n  k: 2\n", nil},
		"two merges are none":                 {"a: &a {k: 1}\nb:\n  <<: *a\n  <<: *a\n", nil},
	} {
		if got := duplicatesIn(nodesOf(chunk{text: c.text, line: 1}), 1, nil); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAliases(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"used often": {"a: &a {k: 1}\nb: [*a, *a, *a, *a]\n", ""},
		"too much":   {"a: &a [1, 2, 3, 4, 5]\nb: &b [*a, *a, *a, *a]\nc: [*b, *b, *b, *b]\n", codeAliasBomb},
		"itself":     {"a: &a\n  b: *a\n", codeRecursiveAlias},
	} {
		failed := checkAliases(nodesOf(chunk{text: c.text, line: 1}), 100)
		if got := failed; got == nil && c.want != "" || got != nil && got.code != c.want {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
	if mayAlias("run: a && b *.txt 2>&1\n") {
		t.Error("a shell command is taken for an alias")
	}
	if !mayAlias("a: &x 1\nb: *x\n") {
		t.Error("an alias is overlooked")
	}
}

func TestItemPaths(t *testing.T) {
	for text, want := range map[string][]any{
		"": nil, "items[0]": {"items", 0}, "[3]": {3}, "items[1].items[20]": {"items", 1, "items", 20}, "items[x]": nil, "items[-1]": nil,
	} {
		if got := itemPath(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
