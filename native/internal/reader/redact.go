package reader

import (
	"regexp"
	"strings"

	"fleetaudit.dev/native/internal/tree"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// redaction is a value that was replaced by a marker, or a text in which something was.
type redaction struct {
	path   []any
	reason string
}

type redactor struct {
	found       []redaction
	kind        string // of the object itself
	makesSecret bool   // the object makes a Secret, so that data in it is one
}

// redact replaces every secret in an object and lists where.
func redact(object *tree.Value, group, kind string) []redaction {
	r := redactor{kind: kind, makesSecret: strings.HasSuffix(kind, "Secret")}
	if group == "" && kind == "Secret" {
		r.strayFields(object)
	}
	r.walk(object, nil)
	return r.found
}

func (r *redactor) replace(value *tree.Value, path []any, reason, secret string) {
	*value = tree.StringOf(markerFor(reason, secret))
	r.found = append(r.found, redaction{path, reason})
}

// cover replaces the secrets inside a text, and leaves what stands around them.
func (r *redactor) cover(value *tree.Value, path []any, found []span) {
	*value = tree.StringOf(cover(value.Text, found))
	r.found = append(r.found, redaction{path, found[0].reason})
}

// walk looks at every value of the object.
func (r *redactor) walk(value *tree.Value, path []any) {
	switch value.Kind {
	case tree.Object:
		done := r.manifest(value, path)
		r.named(value, path)
		r.commands(value, path)
		for i := range value.Members {
			if m := &value.Members[i]; !done[m.Key] {
				r.member(m, path)
			}
		}
	case tree.Array:
		name, _ := lastOf(path).(string)
		for i := range value.Items {
			item := &value.Items[i]
			switch {
			case item.Kind != tree.String:
				r.walk(item, extend(path, i))
			case isRedacted(item.Text):
			case name != "" && holdsSecret(name, item.Text) && !isReferenceName(name, item.Text) && !isProse(path, item.Text):
				r.replace(item, extend(path, i), reasonConfigValue, item.Text)
			default:
				r.text(item, extend(path, i))
			}
		}
	}
}

var wholeMarker = regexp.MustCompile(`^` + marker + `[a-z_]+:[0-9+-]+$`)

func isRedacted(text string) bool {
	return strings.HasPrefix(text, marker) && wholeMarker.MatchString(text)
}

func (r *redactor) member(m *tree.Member, path []any) {
	at := extend(path, m.Key)
	text := m.Value.Text
	switch {
	case m.Value.Kind == tree.Object && (m.Key == "stringData" || m.Key == "data" && r.makesSecret) && !isProse(path, ""):
		r.wholeMap(&m.Value, at, reasonSecretData)
	case m.Value.Kind == tree.Object && m.Key == "secureJsonData":
		r.wholeMap(&m.Value, at, reasonSecretData)
	case isCommand(m): // see commands
	case m.Value.Kind == tree.Array || m.Value.Kind == tree.Object:
		r.walk(&m.Value, at)
	case m.Value.Kind == tree.Number:
		if len(text) > 3 && namesSecret(m.Key) && !isProse(path, text) {
			r.replace(&m.Value, at, reasonConfigValue, text)
		}
	case m.Value.Kind != tree.String || isRedacted(text) || text == "":
	case m.Key == lastApplied:
		r.replace(&m.Value, at, reasonLastApplied, text)
	case r.makesSecret && (m.Key == "literal" || (m.Key == "data" || m.Key == "stringData") && len(path) == 0):
		r.replace(&m.Value, at, reasonSecretData, text)
	case isCommandLine(m.Key):
		if found := spansIn(text); len(found) > 0 {
			r.cover(&m.Value, at, found)
		}
	case holdsSecret(nameOfValue(m.Key, path), text) && !isReferenceName(m.Key, text) && !isProse(path, text):
		r.replace(&m.Value, at, reasonConfigValue, text)
	case isVariables(lastOf(path)) && looksRandom(text):
		r.replace(&m.Value, at, reasonEnvValue, text)
	default:
		r.text(&m.Value, at)
	}
}

// text takes out what the text itself gives away: whole words, or the secrets in a longer text.
func (r *redactor) text(value *tree.Value, path []any) {
	if reason := secretIn(value.Text); reason != "" && (reason == reasonPrivateKey || !strings.ContainsAny(value.Text, " \t\n")) {
		r.replace(value, path, reason, value.Text)
	} else if found := spansIn(value.Text); len(found) > 0 {
		r.cover(value, path, found)
	} else if inner, isBase64 := decoded(value.Text); isBase64 && len(spansIn(inner)) > 0 {
		r.replace(value, path, reasonConfigValue, value.Text)
	}
}

// nameOfValue is the name that says what a field holds: its own, or in password: {value: x} the one above.
func nameOfValue(key string, path []any) string {
	switch key {
	case "value", "literal", "plaintext", "plainText", "plain", "raw", "inline", "stringValue":
		if above, isKey := lastOf(path).(string); isKey {
			return above
		}
	}
	return key
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
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if last != "secret" && last != "credential" && last != "credentials" || !isObjectName(text) || isKeyLike(text) {
		return false
	}
	// hunter2 is no name that people give to an object.
	return strings.ContainsAny(text, "-.") || !strings.ContainsAny(text, "0123456789")
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

func lastOf(path []any) any {
	if len(path) == 0 {
		return nil
	}
	return path[len(path)-1]
}
