package reader

import (
	"regexp"
	"strings"

	"fleetaudit.dev/native/internal/tree"
)

// Values that a neighbour names: environment variables, parameters, headers, and the words of a command.

// named redacts a value that its neighbour names: maps with a name and a value.
func (r *redactor) named(value *tree.Value, path []any) {
	name := ""
	for _, field := range []string{"name", "key", "parameter", "variable", "header"} {
		if name = value.Get(field).TextOr(""); name != "" {
			break
		}
	}
	if name == "" {
		return
	}
	if list := value.Get("values"); list != nil && list.Kind == tree.Array && value.Get("operator") == nil {
		for i := range list.Items {
			if item := &list.Items[i]; item.Kind == tree.String && holdsSecret(name, item.Text) {
				r.replace(item, extend(extend(path, "values"), i), reasonConfigValue, item.Text)
			}
		}
	}
	for _, field := range []string{"value", "default", "stringValue", "string_value"} {
		literal := value.Get(field)
		if literal == nil || literal.Kind != tree.String && literal.Kind != tree.Number || isRedacted(literal.Text) {
			continue
		}
		if reason := variableSecret(name, literal, isVariableList(path)); reason != "" {
			r.replace(literal, extend(path, field), reason, literal.Text)
		}
	}
}

// isVariableList says whether a path leads into a list of environment variables.
func isVariableList(path []any) bool {
	return len(path) > 1 && isVariables(path[len(path)-2])
}

// isVariables says whether a field of this name holds environment variables.
func isVariables(field any) bool {
	name, _ := field.(string)
	return strings.Contains(strings.ToLower(name), "env")
}

func variableSecret(name string, literal *tree.Value, isVariable bool) string {
	text := literal.Text
	reason := secretIn(text)
	if reason == "" && strings.EqualFold(name, "authorization") && isLiteral(text) && !isFormat(text) {
		reason = reasonToken
	}
	if reason == "" && holdsSecret(name, text) {
		reason = reasonConfigValue
	}
	if reason == "" && isVariable && literal.Kind == tree.String {
		if reason = inlineSecret(text); reason == "" && looksRandom(text) {
			reason = reasonEnvValue
		}
		if inner, isBase64 := decoded(text); reason == "" && isBase64 && len(spansIn(inner)) > 0 {
			reason = reasonEnvValue
		}
	}
	if isVariable && (reason == reasonConfigValue || reason == reasonArgValue) {
		reason = reasonEnvValue
	}
	return reason
}

// commands redacts the words of a command, which a container may give in two lists.
func (r *redactor) commands(value *tree.Value, path []any) {
	var words []string
	var lists []*tree.Value
	var paths [][]any
	for _, field := range []string{"command", "args"} {
		list := value.Get(field)
		if list == nil || !isCommand(&tree.Member{Key: field, Value: *list}) {
			continue
		}
		for i := range list.Items {
			words = append(words, list.Items[i].Text)
			lists = append(lists, &list.Items[i])
			paths = append(paths, extend(extend(path, field), i))
		}
	}
	if name, after := programIn(words); name != "" {
		for _, found := range credentials(name, len(words)-after, func(i int) string { return words[after+i] }) {
			item := lists[after+found.word]
			if !isRedacted(item.Text[found.from:]) {
				r.cover(item, paths[after+found.word], []span{{found.from, len(item.Text), reasonArgValue}})
			}
		}
	}
	flag := ""
	for i, item := range lists {
		if item.Text == words[i] {
			r.argument(item, paths[i], flag)
		}
		if flag = flagIn(words[i]); i > 0 && (words[i-1] == "set" || words[i-1] == "config") {
			flag = words[i]
		}
	}
}

// argument redacts one word, and leaves the words around a secret in it: a rule must still see the flags of a command.
func (r *redactor) argument(item *tree.Value, path []any, flag string) {
	text := item.Text
	if flag != "" && isGivenValue(flag, text) && !isFlag.MatchString(text) || looksRandom(text) {
		r.replace(item, path, reasonArgValue, text)
	} else if found := spansIn(text); len(found) > 0 {
		r.cover(item, path, found)
	}
}

var isFlag = regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9-]*(?:=.*)?$`)

// flagIn is the name of a flag whose value the next word may hold.
func flagIn(word string) string {
	if !strings.HasPrefix(word, "-") || strings.ContainsAny(word, "= \n") {
		return ""
	}
	return strings.TrimLeft(word, "-")
}

// isCommand says whether a field holds the words of a command.
func isCommand(m *tree.Member) bool {
	return (m.Key == "args" || m.Key == "command") && m.Value.Kind == tree.Array && allText(&m.Value)
}

func allText(list *tree.Value) bool {
	for i := range list.Items {
		if list.Items[i].Kind != tree.String && list.Items[i].Kind != tree.Number && list.Items[i].Kind != tree.Bool {
			return false
		}
	}
	return true
}
