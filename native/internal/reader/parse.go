package reader

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"

	"fleetaudit.dev/native/internal/tree"
)

// document is a parsed chunk.
type document struct {
	chunk
	root       tree.Value
	duplicates bool // some mapping holds a key twice
	places     *yaml.Node
	placed     bool
}

// nodes are the document's places, parsed at most once.
func (d *document) nodes() *yaml.Node {
	if !d.placed {
		d.places, d.placed = nodesOf(d.chunk), true
	}
	return d.places
}

// parse reads one document as Kubernetes would.
func parse(c chunk, limits Limits) (doc *document, failed *problem) {
	defer func() {
		if p := recover(); p != nil {
			doc, failed = nil, &problem{codeReaderFailed, fmt.Sprintf("the parser failed: %v", p), c.line}
		}
	}()
	if at := invalidUTF8(c.text); at >= 0 {
		return nil, &problem{codeInvalidUTF8, "the text is not valid UTF-8", c.line + strings.Count(c.text[:at], "\n")}
	}
	doc = &document{chunk: c}
	if c.isJSON || startsLikeJSON(c.text) {
		if failed, done := doc.parseJSON(limits); done {
			return doc, failed
		}
	}
	doc.isJSON = false
	return doc, doc.parseYAML(limits)
}

func invalidUTF8(text string) int {
	if utf8.ValidString(text) {
		return -1
	}
	for at, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[at:]); size == 1 {
				return at
			}
		}
	}
	return 0
}

// startsLikeJSON tells JSON from YAML in flow style and from templates, which start with two braces.
func startsLikeJSON(text string) bool {
	s := tree.Scanner{Text: text}
	switch s.Space() {
	case '{':
		s.Pos++
		next := s.Space()
		return next == '"' || next == '}'
	case '[':
		s.Pos++
		next := s.Space()
		return next == '"' || next == '{' || next == ']' || next == '['
	}
	return false
}

// parseJSON tries the text as JSON; not done means that it may still be YAML in flow style.
func (d *document) parseJSON(limits Limits) (failed *problem, done bool) {
	parsed, err := tree.Parse(d.text, 0, limits.MaxDepth)
	switch {
	case err == nil && onlyPreamble(d.text[parsed.End:]):
		d.root, d.duplicates, d.isJSON = parsed.Root, parsed.Duplicates, true
		return nil, true
	case errors.Is(err, tree.ErrDepth):
		return d.tooDeep(limits), true
	case errors.Is(err, tree.ErrRange):
		return &problem{codeNotJSON, "a number is too large", d.lineAt(parsed.End)}, true
	default:
		return nil, false
	}
}

func (d *document) lineAt(offset int) int {
	return d.line + strings.Count(d.text[:min(offset, len(d.text))], "\n")
}

func (d *document) tooDeep(limits Limits) *problem {
	return &problem{codeTooDeep, fmt.Sprintf("nested deeper than %d levels", limits.MaxDepth), contentLine(d.chunk)}
}

func (d *document) parseYAML(limits Limits) *problem {
	if depth := flowDepth(d.text); depth > limits.MaxDepth {
		return d.tooDeep(limits)
	}
	if mayAlias(d.text) {
		if nodes := d.nodes(); nodes != nil {
			if failed := checkAliases(nodes, limits.MaxNodes); failed != nil {
				failed.line += d.line - 1
				return failed
			}
		}
	}
	text := []byte(d.text)
	converted, err := sigs.YAMLToJSONStrict(text)
	if err != nil {
		if converted, err = sigs.YAMLToJSON(text); err != nil {
			return d.explain(err)
		}
		d.duplicates = true
	}
	parsed, err := tree.Parse(string(converted), 0, limits.MaxDepth)
	switch {
	case errors.Is(err, tree.ErrDepth):
		return d.tooDeep(limits)
	case err != nil:
		return &problem{codeNotJSON, err.Error(), contentLine(d.chunk)}
	}
	d.root = parsed.Root
	return nil
}

// flowDepth is the deepest nesting of brackets: a cheap look that keeps hostile text away from recursive parsers.
// Brackets inside strings count too, so it only speaks up far beyond what strings hold.
func flowDepth(text string) int {
	depth, deepest := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth = max(0, depth-1)
		}
	}
	if deepest < 5000 {
		return 0
	}
	return deepest
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

// explain gives a parser's error its code, and its line in the file.
func (d *document) explain(err error) *problem {
	message := err.Error()
	message = strings.TrimPrefix(message, "error converting YAML to JSON: ")
	message = strings.TrimPrefix(message, "yaml: ")
	line := contentLine(d.chunk)
	if found := yamlLine.FindStringSubmatch(message); found != nil {
		if n, convErr := strconv.Atoi(found[1]); convErr == nil {
			line = d.line + n - 1
			message = strings.Replace(message, found[0], "", 1)
		}
	}
	code := codeInvalidYAML
	switch {
	case strings.Contains(message, "unsupported value: "):
		code, message = codeNotJSON, "infinity and not-a-number have no form in JSON"
	case strings.Contains(message, "excessive aliasing"):
		code = codeAliasBomb
	case strings.Contains(message, "contains itself"):
		code = codeRecursiveAlias
	case strings.Contains(message, "exceeded max depth"):
		code = codeTooDeep
	case hasTemplateMarkup(d.text):
		code, message = codeTemplateMarkup, notRendered
	}
	const longest = 300
	if len(message) > longest {
		message = strings.ToValidUTF8(message[:longest], "") + "…"
	}
	return &problem{code, message, line}
}

const notRendered = "it is a template that was not rendered"

func hasTemplateMarkup(text string) bool {
	return strings.Contains(text, "{{") && strings.Contains(text, "}}")
}
