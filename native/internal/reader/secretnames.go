package reader

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode"
)

// Words that make a name the name of a secret value, and words that, standing last, make it the name of something
// about a secret instead (where it is, how long it lives).
var (
	secretWords = set("password passwd pwd passphrase passcode passwords secret token apikey credential credentials cred creds " +
		"apitoken authtoken accesstoken secretkey privatekey accesskey clientsecret bearer pat requirepass masterauth storepass " +
		"keypass userpass rootpass adminpass dbpass smtppass mailpass sshpass bindpw rootpw psk dockerconfigjson dockercfg")
	secretEndings = []string{"password", "passwd", "passphrase", "apikey", "secretkey", "accesskey", "privatekey", "secret", "token", "pwd"}
	keyOwners     = set("api access secret private auth signing encryption client account master license admin session shared storage " +
		"ssh deploy app application hmac webhook service write read jwt cookie aes rsa crypto cipher fernet flask django rails minio s3 " +
		"openai anthropic azure gcp google aws cohere mistral huggingface hf nvidia ngc nim groq together replicate wandb comet " +
		"langchain langsmith langfuse pinecone weaviate qdrant milvus datadog newrelic sentry stripe twilio sendgrid mailgun slack " +
		"github gitlab deepseek gemini claude perplexity elevenlabs openrouter fireworks voyage jina litellm vllm llm serpapi tavily")
	aboutWords = set("path file filename dir directory name names ref reference url uri endpoint expiry expiration expires ttl seconds secs minutes hours ms timeout duration limit limits count counts num number size length len enabled enable disabled required mode type types kind provider issuer id ids header mount mountpath volume key keys policy format algorithm alg version class audience budget interval rotation rate prefix suffix location source store engine method template namespace label selector host port user username scope realm only first last pool max min per chunk batch window bytes index field env placeholder manager rotator operator controller injector backend plugin projected automount review reviews")
	// A tokenizer's marks, and tokens that are counted.
	tokenKinds = set("eos bos pad unk sep cls mask stop special eot bot per output next sub end begin start")
	// A pass over data, not a password.
	passKinds = set("num first second last single multi one two by band low high max min forward backward n skip per each")
	// Who is logged in to where a name ends in auth.
	authOwners = set("redis basic proxy valkey sentinel mongo mongodb mysql http registry docker npm pip smtp imap curl git nexus " +
		"artifactory elastic elasticsearch opensearch es kibana rabbitmq amqp nats mqtt ftp sftp webdav couchdb neo4j admin user web " +
		"dashboard flower prometheus grafana master primary replica requirepass")
	authModes = set("basic digest bearer oauth oauth2 oidc openid ldap kerberos krb5 jwt token password anonymous mtls tls ssl cert " +
		"certificate sso saml iam rbac scram plain login md5 trust ident peer gssapi apikey api-key api_key key cookie session " +
		"htpasswd file external internal forward request github gitlab google azure aws allow deny")
)

func set(words string) map[string]bool {
	made := map[string]bool{}
	for _, word := range strings.Fields(words) {
		made[word] = true
	}
	return made
}

// holdsSecret says whether the value under this name is a secret itself, and not where one is or what is done with it.
func holdsSecret(name, value string) bool {
	return hasHint(name) && isLiteral(value) && (namesSecret(name) && !namesSecretObject(name, value) || showsSecret(name, value))
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

// namesSecret says whether a variable, flag or key of this name holds a secret value.
func namesSecret(name string) bool {
	words := wordsOf(name)
	for len(words) > 1 && isNumber(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 || len(words) > 12 {
		return false
	}
	last, before := strings.TrimRight(words[len(words)-1], "0123456789"), ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	switch {
	case (last == "key" || last == "keys") && keyOwners[before]:
		return len(words) != 2 || before != "secret" || isLoud(name) // "secretKey" alone mostly names a key of a Secret
	case last == "tokens":
		return before == "api" || before == "auth" || before == "access" || before == "admin" || before == "bearer"
	case last == "pass":
		return !passKinds[before]
	case aboutWords[last]:
		return false
	}
	for i, word := range words {
		word = strings.TrimRight(word, "0123456789")
		if word == "token" && i > 0 && tokenKinds[words[i-1]] {
			continue
		}
		if secretWords[word] || endsLikeSecret(word) {
			return true
		}
	}
	return false
}

// endsLikeSecret takes words that were written together: pgpassword, hftoken.
func endsLikeSecret(word string) bool {
	for _, ending := range secretEndings {
		if owner, found := strings.CutSuffix(word, ending); found && owner != "" {
			return owner != "old" && owner != "de" && !(ending == "token" && tokenKinds[owner])
		}
	}
	return false
}

// isSecretKey says whether a name is secret key, which on a command line or in an ini file is the key itself.
func isSecretKey(name string) bool {
	words := wordsOf(name)
	return len(words) == 2 && words[0] == "secret" && words[1] == "key"
}

// showsSecret takes names that can stand for a secret or for something else: the value tells.
func showsSecret(name, value string) bool {
	words := wordsOf(name)
	if len(words) == 0 {
		return false
	}
	value = strings.TrimSpace(value)
	switch last := words[len(words)-1]; {
	case last == "auth":
		return isAuthentication(words, value)
	case last == "dsn":
		return strings.Contains(value, "@")
	case last == "cookie":
		return len(words) > 1 && words[len(words)-2] == "erlang" || strings.Contains(value, "=")
	case last == "authorization":
		return scheme.MatchString(value) || isKeyLike(value)
	case last == "key" && len(words) > 1 && words[len(words)-2] != "public":
		return isSecretKey(name) && isKeyLike(value) || isLoud(name) && isKeyLike(value)
	}
	return false
}

// isAuthentication says whether a value under a name that ends in auth logs somebody in: REDIS_AUTH, --auth user:pw.
func isAuthentication(words []string, value string) bool {
	if authModes[strings.ToLower(value)] || strings.Contains(value, "://") {
		return false
	}
	if user, secret, found := strings.Cut(value, ":"); found && user != "" && secret != "" {
		return true
	}
	if decoded, err := base64.StdEncoding.DecodeString(value); err == nil && len(decoded) > 3 && strings.Contains(string(decoded), ":") {
		return true
	}
	return len(words) > 1 && authOwners[words[len(words)-2]] || looksRandom(value)
}

var scheme = regexp.MustCompile(`(?i)^(?:basic|bearer|token|apikey|digest|aws4-hmac-sha256|negotiate)\s+\S{6,}`)

var hexKey = regexp.MustCompile(`^[0-9a-fA-F]{32,}$`)

// isKeyLike says whether a text can only be a key: long, without the separators of names, and with digits in it.
func isKeyLike(value string) bool {
	if hexKey.MatchString(value) || looksRandom(value) {
		return true
	}
	digits, letters := 0, 0
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		default:
			return false
		}
	}
	return len(value) >= 20 && digits > 2 && letters > 2
}

// isLoud says whether a name is written as environment variables are.
func isLoud(name string) bool { return name == strings.ToUpper(name) }

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// wordsOf cuts a name at separators and at changes of case: HF_TOKEN, hfToken and hf-token are alike.
func wordsOf(name string) []string {
	var words []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	var before rune
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsUpper(before) && i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
			word.WriteRune(r)
		default:
			word.WriteRune(r)
		}
		before = r
	}
	flush()
	return words
}
