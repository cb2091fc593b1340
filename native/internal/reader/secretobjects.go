package reader

import (
	"encoding/base64"
	"regexp"
	"strings"

	"fleetaudit.dev/native/internal/tree"
)

// Objects whose whole content is secret, or that carry files: Secrets and ConfigMaps, at the top or inside another object.

var (
	secretFields    = set("data stringData")
	configMapFields = set("data binaryData")
)

// manifest looks at a mapping that is a Secret or a ConfigMap, wherever it stands. It returns the fields it is done with.
func (r *redactor) manifest(object *tree.Value, path []any) map[string]bool {
	kind := object.Get("kind").TextOr("")
	if len(path) == 0 {
		kind = r.kind
	}
	switch kind {
	case "Secret":
		for _, field := range []string{"data", "stringData"} {
			if values := object.Get(field); values != nil {
				r.wholeMap(values, extend(path, field), reasonSecretData)
			}
		}
		return secretFields
	case "ConfigMap":
		for i := range object.Members {
			if m := &object.Members[i]; configMapFields[m.Key] {
				r.files(m, path)
			}
		}
		return configMapFields
	}
	return nil
}

// strayFields replaces what stands in a Secret and does not belong there: a misspelled stringdata holds secrets, too.
func (r *redactor) strayFields(object *tree.Value) {
	for i := range object.Members {
		m := &object.Members[i]
		switch m.Key {
		case "apiVersion", "kind", "metadata", "type", "immutable", "data", "stringData":
		default:
			r.wholeMap(&m.Value, []any{m.Key}, reasonSecretData)
		}
	}
}

// wholeMap replaces every value of a map, whatever it looks like; keys stay.
func (r *redactor) wholeMap(values *tree.Value, path []any, reason string) {
	if values.Kind == tree.Null || values.Kind == tree.String && (values.Text == "" || isRedacted(values.Text)) {
		return
	}
	if values.Kind != tree.Object {
		r.replace(values, path, reason, string(tree.Append(nil, values)))
		return
	}
	for i := range values.Members {
		m := &values.Members[i]
		secret := m.Value.Text
		if m.Value.Kind != tree.String {
			secret = string(tree.Append(nil, &m.Value))
		}
		if m.Value.Kind == tree.Null || secret == "" || isRedacted(secret) {
			continue
		}
		r.replace(&m.Value, extend(path, m.Key), reason, secret)
	}
}

// files looks into what a ConfigMap carries. A file with a secret in it is replaced whole.
func (r *redactor) files(field *tree.Member, path []any) {
	if field.Value.Kind != tree.Object {
		r.member(field, path)
		return
	}
	at := extend(path, field.Key)
	for i := range field.Value.Members {
		m := &field.Value.Members[i]
		if m.Value.Kind != tree.String {
			r.member(m, at)
			continue
		}
		text := m.Value.Text
		if isRedacted(text) {
			continue
		}
		if field.Key == "binaryData" {
			raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
			if err != nil {
				continue
			}
			text = string(raw)
		}
		if reason := configSecret(m.Key, text); reason != "" {
			r.replace(&m.Value, extend(at, m.Key), reason, m.Value.Text)
		}
	}
}

// Files that hold nothing but secrets, line by line.
var secretFiles = regexp.MustCompile(`(?i)^\.?(?:(?:known[_-])?tokens?|passwords?|(?:ht)?passwd|secrets?|credentials|pgpass|_?netrc|userlist|basic[_-]auth)(?:\.(?:txt|csv|list|lst))?$`)

func configSecret(key, text string) string {
	if reason := secretIn(text); reason != "" {
		return reason
	}
	trimmed := strings.TrimSpace(text)
	if secretFiles.MatchString(key) && isLiteral(trimmed) && !isFormat(trimmed) {
		return reasonConfigValue
	}
	if !strings.Contains(trimmed, "\n") && (holdsSecret(key, text) || isSecretKey(key) && isLiteral(text) || looksRandom(trimmed)) {
		return reasonConfigValue
	}
	reason := inlineSecret(text)
	if reason == "" {
		if inner, isBase64 := decoded(text); isBase64 && configSecret("", inner) != "" {
			return reasonConfigValue
		}
	}
	if reason == reasonArgValue {
		return reasonConfigValue
	}
	return reason
}
