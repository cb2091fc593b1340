package reader

import (
	"encoding/base64"
	"regexp"
	"strings"

	"fleetaudit.dev/native/internal/tree"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// redaction is a value that was replaced by a marker.
type redaction struct {
	path   []any
	reason string
}

type redactor struct {
	found []redaction
}

// redact replaces every secret in an object and lists where.
func redact(object *tree.Value, group, kind string) []redaction {
	r := redactor{}
	if group == "" && kind == "Secret" {
		r.wholeMap(object, "data", reasonSecretData)
		r.wholeMap(object, "stringData", reasonSecretData)
	}
	if group == "" && kind == "ConfigMap" {
		r.configMap(object)
	}
	r.walk(object, nil)
	return r.found
}

func (r *redactor) replace(value *tree.Value, path []any, reason, secret string) {
	*value = tree.StringOf(markerFor(reason, secret))
	r.found = append(r.found, redaction{path, reason})
}

// wholeMap replaces every value of a map, whatever it looks like; keys stay.
func (r *redactor) wholeMap(object *tree.Value, field, reason string) {
	values := object.Get(field)
	if values == nil || values.Kind == tree.Null {
		return
	}
	if values.Kind != tree.Object {
		r.replace(values, []any{field}, reason, string(tree.Append(nil, values)))
		return
	}
	for i := range values.Members {
		m := &values.Members[i]
		secret := m.Value.Text
		if m.Value.Kind != tree.String {
			secret = string(tree.Append(nil, &m.Value))
		}
		if m.Value.Kind == tree.Null || secret == "" {
			continue
		}
		r.replace(&m.Value, []any{field, m.Key}, reason, secret)
	}
}

// configMap looks into the files that a ConfigMap carries.
func (r *redactor) configMap(object *tree.Value) {
	for _, field := range []string{"data", "binaryData"} {
		values := object.Get(field)
		if values == nil || values.Kind != tree.Object {
			continue
		}
		for i := range values.Members {
			m := &values.Members[i]
			text := m.Value.Text
			if m.Value.Kind == tree.Number {
				if namesSecret(m.Key) && isLiteral(text) {
					r.replace(&m.Value, []any{field, m.Key}, reasonConfigValue, text)
				}
				continue
			}
			if m.Value.Kind != tree.String {
				continue
			}
			if field == "binaryData" {
				decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
				if err != nil {
					continue
				}
				text = string(decoded)
			}
			if reason := configSecret(m.Key, text); reason != "" {
				r.replace(&m.Value, []any{field, m.Key}, reason, m.Value.Text)
			}
		}
	}
}

// A line of a configuration file that assigns something: ini, env, properties, YAML, TOML, JSON.
var assignment = regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+|-[ \t]+|set[ \t]+)?["']?([A-Za-z][A-Za-z0-9_.-]{1,80})["']?[ \t]*[:=][ \t]*(.*)$`)
var jsonPair = regexp.MustCompile(`"([A-Za-z][A-Za-z0-9_.-]{1,80})"\s*:\s*"([^"\n]*)"`)

func configSecret(key, text string) string {
	if reason := secretIn(text); reason != "" {
		return reason
	}
	single := !strings.Contains(strings.TrimSpace(text), "\n")
	if single && namesSecret(key) && isLiteral(text) {
		return reasonConfigValue
	}
	if single && looksRandom(strings.TrimSpace(text)) {
		return reasonConfigValue
	}
	for _, match := range assignment.FindAllStringSubmatch(text, -1) {
		if namesSecret(match[1]) && isAssignedSecret(match[2]) {
			return reasonConfigValue
		}
	}
	for _, match := range jsonPair.FindAllStringSubmatch(text, -1) {
		if namesSecret(match[1]) && isAssignedSecret(match[2]) {
			return reasonConfigValue
		}
	}
	return inlineSecret(text)
}

// isAssignedSecret judges the right-hand side of an assignment. Code that fetches the value is no value.
func isAssignedSecret(value string) bool {
	value = strings.TrimSpace(value)
	if cut := strings.Index(value, " #"); cut >= 0 {
		value = strings.TrimSpace(value[:cut])
	}
	value = strings.TrimRight(value, ",;")
	quoted := len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0]
	value = strings.Trim(value, `"'`)
	if !isLiteral(value) || isFormat(value) {
		return false
	}
	return quoted || !strings.ContainsAny(value, " ()[]{}<>`$|")
}

// walk looks at every value of the object.
func (r *redactor) walk(value *tree.Value, path []any) {
	switch value.Kind {
	case tree.Object:
		r.named(value, path)
		for i := range value.Members {
			r.member(&value.Members[i], path)
		}
	case tree.Array:
		if name, _ := lastOf(path).(string); (name == "args" || name == "command") && allText(value) {
			r.arguments(value, path)
			return
		}
		for i := range value.Items {
			item := &value.Items[i]
			if item.Kind == tree.String {
				if reason := secretIn(item.Text); reason != "" {
					r.replace(item, extend(path, i), reason, item.Text)
				}
				continue
			}
			r.walk(item, extend(path, i))
		}
	}
}

func (r *redactor) member(m *tree.Member, path []any) {
	if m.Value.Kind == tree.Array || m.Value.Kind == tree.Object {
		r.walk(&m.Value, extend(path, m.Key))
		return
	}
	if m.Value.Kind != tree.String || strings.HasPrefix(m.Value.Text, marker) {
		return
	}
	text := m.Value.Text
	if m.Key == lastApplied && text != "" {
		r.replace(&m.Value, extend(path, m.Key), reasonLastApplied, text)
		return
	}
	if isCommandLine(m.Key) {
		if found := spansIn(text); len(found) > 0 {
			m.Value = tree.StringOf(cover(text, found))
			r.found = append(r.found, redaction{extend(path, m.Key), found[0].reason})
		}
		return
	}
	reason := secretIn(text)
	if reason == "" && namesSecret(m.Key) && !isReferenceName(m.Key, text) && isLiteral(text) && !isProse(path, text) {
		reason = reasonConfigValue
	}
	if reason != "" {
		r.replace(&m.Value, extend(path, m.Key), reason, text)
	}
}

// isCommandLine says whether a text field of this name holds a command or a script.
func isCommandLine(key string) bool {
	switch key {
	case "args", "command", "entrypoint", "script", "source":
		return true
	}
	return false
}

// isReferenceName says whether a field called like a secret holds the name of a Secret object: volumes[].secret,
// imagePullSecret and their like.
func isReferenceName(key, text string) bool {
	words := wordsOf(key)
	last := words[len(words)-1]
	if last != "secret" && last != "credential" && last != "credentials" {
		return false
	}
	return isObjectName(text)
}

// isObjectName says whether a text could be the name of a Kubernetes object.
func isObjectName(text string) bool {
	if text == "" || len(text) > 253 {
		return false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.') {
			return false
		}
	}
	return true
}

// isProse says whether a value is a description, as in the schemas of custom resources.
func isProse(path []any, text string) bool {
	if len(text) > 60 && strings.Count(text, " ") > 5 {
		return true
	}
	for _, segment := range path {
		if segment == "openAPIV3Schema" || segment == "matchLabels" {
			return true
		}
	}
	return false
}

// named redacts a value that its neighbour names, as in lists of environment variables, parameters and headers: maps
// with a name and a value.
func (r *redactor) named(value *tree.Value, path []any) {
	name, literal := value.Get("name"), value.Get("value")
	if !name.IsText() || literal == nil || literal.Kind != tree.String && literal.Kind != tree.Number {
		return
	}
	if reason := variableSecret(name.Text, literal, isVariableList(path)); reason != "" {
		r.replace(literal, extend(path, "value"), reason, literal.Text)
	}
}

// isVariableList says whether a path leads into a list of environment variables.
func isVariableList(path []any) bool {
	if len(path) < 2 {
		return false
	}
	list, _ := path[len(path)-2].(string)
	return strings.Contains(strings.ToLower(list), "env")
}

func variableSecret(name string, literal *tree.Value, isVariable bool) string {
	text := literal.Text
	reason := secretIn(text)
	if reason == "" && strings.EqualFold(name, "authorization") && isLiteral(text) && !isFormat(text) {
		reason = reasonToken
	}
	if reason == "" && namesSecret(name) && isLiteral(text) && !namesSecretObject(name, text) {
		reason = reasonConfigValue
	}
	if reason == "" && isVariable && literal.Kind == tree.String {
		if reason = inlineSecret(text); reason == "" && looksRandom(text) {
			reason = reasonEnvValue
		}
	}
	if isVariable && (reason == reasonConfigValue || reason == reasonArgValue) {
		reason = reasonEnvValue
	}
	return reason
}

// namesSecretObject says whether a variable names a Secret object rather than holding its value.
func namesSecretObject(name, text string) bool {
	words := wordsOf(name)
	for i, word := range words {
		if word == "secret" && i > 0 && (words[i-1] == "pull" || words[i-1] == "tls" || words[i-1] == "cert") {
			return isObjectName(text)
		}
	}
	return false
}

// arguments redacts the secrets in single arguments, and leaves the words around them: a rule must still see the flags of
// a command. A flag may name the secret that the next argument holds.
func (r *redactor) arguments(list *tree.Value, path []any) {
	announced := false
	for i := range list.Items {
		item := &list.Items[i]
		text := item.Text
		if announced && isAssignedSecret(text) || looksRandom(text) {
			r.replace(item, extend(path, i), reasonArgValue, text)
		} else if found := spansIn(text); len(found) > 0 {
			*item = tree.StringOf(cover(text, found))
			r.found = append(r.found, redaction{extend(path, i), found[0].reason})
		}
		announced = strings.HasPrefix(text, "-") && !strings.ContainsAny(text, "= \n") && namesSecret(strings.TrimLeft(text, "-"))
	}
}

func allText(list *tree.Value) bool {
	for i := range list.Items {
		if list.Items[i].Kind != tree.String && list.Items[i].Kind != tree.Number && list.Items[i].Kind != tree.Bool {
			return false
		}
	}
	return true
}

func lastOf(path []any) any {
	if len(path) == 0 {
		return nil
	}
	return path[len(path)-1]
}
