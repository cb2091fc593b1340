package reader

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func texts(chunks []chunk) []string {
	var out []string
	for _, c := range chunks {
		text := strings.TrimSpace(c.text)
		if c.hidden {
			text = "HIDDEN " + text
		}
		out = append(out, text)
	}
	return out
}

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  []string
		lines []int
	}{
		"nothing":                       {"", nil, nil},
		"only blanks":                   {" \n\n", nil, nil},
		"only a comment":                {"# c\n", []string{"# c"}, []int{1}},
		"one":                           {"a: 1\n", []string{"a: 1"}, []int{1}},
		"no final newline":              {"a: 1\n---\nb: 2", []string{"a: 1", "b: 2"}, []int{1, 3}},
		"separator first":               {"---\na: 1\n", []string{"a: 1"}, []int{2}},
		"comment before the first":      {"# licence\n---\na: 1\n", []string{"a: 1"}, []int{3}},
		"empty leading document counts": {"---\n# c\n---\na: 1\n", []string{"# c", "a: 1"}, []int{2, 4}},
		"separator last":                {"a: 1\n---\n", []string{"a: 1"}, []int{1}},
		"comment behind a separator":    {"a: 1\n--- # next\nb: 2\n", []string{"a: 1", "b: 2"}, []int{1, 3}},
		"blanks behind a separator":     {"a: 1\n---  \t\nb: 2\n", []string{"a: 1", "b: 2"}, []int{1, 3}},
		"carriage returns":              {"a: 1\r\n---\r\nb: 2\r\n", []string{"a: 1", "b: 2"}, []int{1, 3}},
		"dashes inside a line":          {"a: x---\nb: |\n  ---\n  y\n", []string{"a: x---\nb: |\n  ---\n  y"}, []int{1}},
		"four dashes":                   {"a: 1\n----\n", []string{"a: 1\n----"}, []int{1}},
		"directive":                     {"%YAML 1.1\n---\na: 1\n", []string{"%YAML 1.1\n---\na: 1"}, []int{1}},
		"text behind a separator":       {"a: 1\n--- {b: 2}\n", []string{"a: 1", "HIDDEN --- {b: 2}"}, []int{1, 2}},
		"starts with such a separator":  {"--- {b: 2}\n", []string{"--- {b: 2}"}, []int{1}},
		"dots":                          {"a: 1\n...\nb: 2\n", []string{"a: 1", "HIDDEN b: 2"}, []int{1, 3}},
		"dots at the end":               {"a: 1\n...\n# c\n", []string{"a: 1\n...\n# c"}, []int{1}},
		"json":                          {"{\"a\": \"\\n---\"}\n", []string{"{\"a\": \"\\n---\"}"}, []int{1}},
		"json after json":               {"{\"a\":1}\n{\"b\":2} {\"c\":3}\n", []string{"{\"a\":1}", "{\"b\":2}", "{\"c\":3}"}, []int{1, 1, 2}},
		"json between separators":       {"{\"a\":1}\n---\n{\"b\":2}\n", []string{"{\"a\":1}", "{\"b\":2}"}, []int{1, 3}},
		"json, then something else":     {"{\"a\":1} b", []string{"{\"a\":1}", "HIDDEN b"}, []int{1, 1}},
		"a template":                    {"{{- if .x }}\na: 1\n{{- end }}\n", []string{"{{- if .x }}\na: 1\n{{- end }}"}, []int{1}},
		"flow style":                    {"{a: 1}\n", []string{"{a: 1}"}, []int{1}},
	} {
		chunks := split(c.text)
		if got := texts(chunks); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
			continue
		}
		for i, chunk := range chunks {
			if chunk.number != i+1 || chunk.line != c.lines[i] {
				t.Errorf("%s: document %d has number %d and line %d", name, i+1, chunk.number, chunk.line)
			}
		}
	}
}

func TestPlainText(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"plain":                    {"a: é", "a: é"},
		"UTF-8 mark":               {"\xef\xbb\xbfa", "a"},
		"UTF-16 little, mark":      {"\xff\xfea\x00=\xd8\x00\xde", "a😀"},
		"UTF-16 big, mark":         {"\xfe\xff\x00a\xd8=\xde\x00", "a😀"},
		"UTF-16 little, no mark":   {"a\x00:\x00", "a:"},
		"UTF-16 big, without mark": {"\x00a\x00:", "a:"},
	} {
		if got, err := plainText([]byte(c.data)); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, data := range map[string]string{
		"half a character": "\xff\xfea\x00b", "half a pair": "\xff\xfe=\xd8", "wrong pair": "\xff\xfe=\xd8a\x00", "UTF-32": "\xff\xfe\x00\x00a\x00\x00\x00",
	} {
		if got, err := plainText([]byte(data)); err == nil {
			t.Errorf("%s was read as %q", name, got)
		}
	}
}

// FuzzSplit checks that no text gets lost between documents, and that their lines are true.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"a: 1\n---\nb: 2\n", "{\"a\":1}{\"b\":2}", "---\n---\n", "%YAML\n---\n", "a\n...\nb\n--- c\n", "{\"a\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		lines := strings.Split(text, "\n")
		for i, c := range split(text) {
			if c.number != i+1 || c.line < 1 || c.line > len(lines) {
				t.Fatalf("%q: document %d has number %d and line %d", text, i+1, c.number, c.line)
			}
			start := 0
			for _, line := range lines[:c.line-1] {
				start += len(line) + 1
			}
			if start > at {
				checkNoContent(t, text, text[at:start])
				at = start
			}
			found := strings.Index(text[at:], c.text)
			if found < 0 {
				t.Fatalf("%q: document %q is not in the text behind %d", text, c.text, at)
			}
			checkNoContent(t, text, text[at:at+found])
			at += found + len(c.text)
		}
	})
}

func checkNoContent(t *testing.T, text, between string) {
	for line := range strings.Lines(between) {
		trimmed := strings.TrimSpace(line)
		if trimmed != "" && trimmed[0] != '#' && !strings.HasPrefix(trimmed, "---") && trimmed != "..." {
			t.Fatalf("%q: %q is in no document", text, line)
		}
	}
}

// FuzzRead checks that no text crashes the reader, and that what comes out is valid.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", "a: &a [*a]\n", "kind: List\napiVersion: v1\nitems: [1, {}]\n",
		"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"a\":1,\"a\":2}}", "? {a: b}\n: c\n", "on: off\n<<: {a: 1}\n",
	} {
		f.Add(seed)
	}
	config := &Config{Limits: Limits{MaxFileBytes: 1 << 20, MaxDepth: 100, MaxNodes: 10000}}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range split(text) {
			var found events
			read(c, 1, config, &found)
			if found.count == 0 {
				t.Fatalf("%q: a document without any event", c.text)
			}
			if !c.hidden && utf8.ValidString(c.text) {
				if doc, failed := parse(c, config.Limits); failed != nil && doc == nil && failed.code == codeReaderFailed {
					t.Fatalf("%q: %s", c.text, failed.message)
				}
			}
		}
	})
}
