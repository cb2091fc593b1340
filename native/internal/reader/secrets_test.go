package reader

import (
	"strings"
	"testing"

	"fleetaudit.dev/native/internal/tree"
)

func TestNamesOfSecrets(t *testing.T) {
	for _, name := range strings.Fields(`PASSWORD DB_PASSWORD dbPassword db-password HF_TOKEN HUGGING_FACE_HUB_TOKEN apiKey api_key
		OPENAI_API_KEY AWS_SECRET_ACCESS_KEY SECRET_KEY clientSecret private-key access_token redis-password DJANGO_SECRET MYSQL_PWD`) {
		if !namesSecret(name) {
			t.Errorf("%s is not taken for a secret", name)
		}
	}
	for _, name := range strings.Fields(`TOKENIZER_PATH MAX_TOKENS KEY_FILE TOKEN_URL SECRET_NAME secretName passwordFile tokenExpirationSeconds
		TOKEN_LIMIT max-num-batched-tokens KEY key publicKey keyboard passwordless SECRETS_BACKEND PASSWORD_MIN_LENGTH secretKeyRef API_KEY_HEADER`) {
		if namesSecret(name) {
			t.Errorf("%s is taken for a secret", name)
		}
	}
}

func TestValuesThatAreNoSecrets(t *testing.T) {
	for _, value := range []string{
		"", "true", "$(DB_PASSWORD)", "${TOKEN}", "$TOKEN", "<your-token>", "/etc/secrets/token", "file:/x", "{{ .Values.x }}", "none",
	} {
		if isLiteral(value) {
			t.Errorf("%q is taken for a secret", value)
		}
	}
	for _, value := range []string{"hunter2", "abc/def", "p$ssw0rd", "0123", "changeme"} {
		if !isLiteral(value) {
			t.Errorf("%q is not taken for a secret", value)
		}
	}
}

// Made up here; they only have the shapes of keys.
var (
	randomWord = "aB3dE5fG7h" + "J9kL1mN3pQ5rS7tU"
	hubToken   = "hf_" + strings.Repeat("aB", 15)
	webToken   = "eyJ" + strings.Repeat("a", 10) + ".eyJ" + strings.Repeat("b", 10) + "." + strings.Repeat("c", 12)
)

func TestShapes(t *testing.T) {
	for text, want := range map[string]string{
		"postgres://user:pw@db/x":                          reasonURL,
		"postgres://user:$(PW)@db/x":                       "",
		"https://example.test/a:b@c":                       "",
		"https://x.test/?token=abcdefgh1":                  reasonURL,
		"https://x.test/m?X-Amz-Signature=abcdefgh1":       reasonURL,
		"https://x.test/m?a=1&X-Goog-Signature=abcdefgh1":  reasonURL,
		"see " + hubToken:                                  reasonToken,
		webToken:                                           reasonToken,
		"-----BEGIN RSA PRIVATE KEY-----\nMII":             reasonPrivateKey,
		"LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUk=": reasonPrivateKey,
		"-----BEGIN CERTIFICATE-----\nMII":                 "",
		"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUQ=":     "",
		"a plain sentence about a token":                   "",
	} {
		if got := secretIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestRandomness(t *testing.T) {
	if !looksRandom(randomWord) {
		t.Error("a random word is overlooked")
	}
	for _, text := range []string{
		"sha256:" + strings.Repeat("ab12", 16), "123e4567-e89b-12d3-a456-426614174000", "0e9e39f249a16976918f6564b8830bc894c89659",
		"nvidia-gpu-operator-node-feature-discovery", "Llama3Instruct8BVersion2Latest", "registry.example.test/team/image:1.2.3",
		"/opt/models/Meta-Llama-3-8B-Instruct", "meta-llama/Llama-3.1-8B-Instruct", "short", "com.example.VeryLongJavaClassName1",
	} {
		if looksRandom(text) {
			t.Errorf("%q is taken for a key", text)
		}
	}
}

func redacted(t *testing.T, text, group, kind string) (string, []redaction) {
	t.Helper()
	parsed, err := tree.Parse(text, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	found := redact(&parsed.Root, group, kind)
	return string(tree.Append(nil, &parsed.Root)), found
}

func TestRedaction(t *testing.T) {
	for name, c := range map[string]struct{ object, kind, want string }{
		"secret, every value": {
			`{"data":{"a":"eA==","b":5,"c":null,"d":""},"stringData":{"e":"x"}}`, "Secret",
			`{"data":{"a":"fleetaudit:redacted:secret_data:1-8","b":"fleetaudit:redacted:secret_data:1-8","c":null,"d":""},"stringData":{"e":"fleetaudit:redacted:secret_data:1-8"}}`,
		},
		"secret with odd data": {
			`{"data":"whole"}`, "Secret", `{"data":"fleetaudit:redacted:secret_data:1-8"}`,
		},
		"flag keeps its name": {
			`{"args":["--api-key=abcd1234","--port=80"]}`, "Pod",
			`{"args":["--api-key=fleetaudit:redacted:arg_value:1-8","--port=80"]}`,
		},
		"value after its flag": {
			`{"args":["--api-key","abcd12345","--model","m"]}`, "Pod",
			`{"args":["--api-key","fleetaudit:redacted:arg_value:9-32","--model","m"]}`,
		},
		"inside a script": {
			`{"command":["sh","-c","TOKEN=abc123 run --trust-remote-code -H 'Authorization: Bearer abcdefgh'"]}`, "Pod",
			`{"command":["sh","-c","TOKEN=fleetaudit:redacted:arg_value:1-8 run --trust-remote-code -H 'Authorization: Bearer fleetaudit:redacted:token:1-8'"]}`,
		},
		"nothing to see": {
			`{"args":["--max-tokens=4096","--tokenizer=/models/t","--hf-token=$(HF_TOKEN)"],"tokenExpirationSeconds":3600}`, "Pod",
			`{"args":["--max-tokens=4096","--tokenizer=/models/t","--hf-token=$(HF_TOKEN)"],"tokenExpirationSeconds":3600}`,
		},
		"variables": {
			`{"env":[{"name":"HF_TOKEN","value":"x"},{"name":"A","valueFrom":{"secretKeyRef":{"key":"token","name":"hub"}}},{"name":"MODE","value":"fast"}]}`, "Pod",
			`{"env":[{"name":"HF_TOKEN","value":"fleetaudit:redacted:env_value:1-8"},{"name":"A","valueFrom":{"secretKeyRef":{"key":"token","name":"hub"}}},{"name":"MODE","value":"fast"}]}`,
		},
		"header of a probe": {
			`{"httpHeaders":[{"name":"Authorization","value":"Basic abc"}]}`, "Pod",
			`{"httpHeaders":[{"name":"Authorization","value":"fleetaudit:redacted:token:9-32"}]}`,
		},
		"config map files": {
			`{"data":{"a.ini":"[x]\nuser = me\npassword = hunter2\n","b":"password_file: /etc/p","c.json":"{\"apiKey\": \"abc\"}","token":"t0ps"}}`, "ConfigMap",
			`{"data":{"a.ini":"fleetaudit:redacted:config_value:33-128","b":"password_file: /etc/p","c.json":"fleetaudit:redacted:config_value:9-32","token":"fleetaudit:redacted:config_value:1-8"}}`,
		},
		"names of Secret objects stay": {
			`{"spec":{"imagePullSecret":"regcred","tls":{"secretName":"web-tls"},"volumes":[{"secret":{"secretName":"x"}}]}}`, "Pod",
			`{"spec":{"imagePullSecret":"regcred","tls":{"secretName":"web-tls"},"volumes":[{"secret":{"secretName":"x"}}]}}`,
		},
		"last applied": {
			`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}}`, "Pod",
			`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"fleetaudit:redacted:last_applied:1-8"}}}`,
		},
		"custom resources": {
			`{"spec":{"rayStartParams":{"redis-password":"hunter22"},"repo":"https://u:p@x.test/r"}}`, "RayCluster",
			`{"spec":{"rayStartParams":{"redis-password":"fleetaudit:redacted:config_value:1-8"},"repo":"fleetaudit:redacted:url_credentials:9-32"}}`,
		},
	} {
		got, _ := redacted(t, c.object, "", c.kind)
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
		if again, found := redacted(t, got, "", c.kind); c.kind != "Secret" && (again != got || len(found) != 0) {
			t.Errorf("%s: a marker is redacted again: %s", name, again)
		}
	}
}
