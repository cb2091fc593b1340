package reader

import (
	"regexp"
	"slices"
	"strings"
)

// Programs whose short flags hold a secret: nothing in such a flag's name says so.

// credentialFlag is one flag of a program.
type credentialFlag struct {
	name  string
	glued bool   // the secret may follow without a space: -psecret
	apart bool   // it may be the next word
	pair  bool   // it is user:secret, and only the second half is one
	after string // a word that must stand before the flag
}

var (
	mysqlFlags = []credentialFlag{{name: "-p", glued: true}}
	mongoFlags = []credentialFlag{{name: "-p", glued: true, apart: true}}
	ldapFlags  = []credentialFlag{{name: "-w", glued: true, apart: true}}
	loginFlags = []credentialFlag{{name: "-p", glued: true, apart: true, after: "login"}}
	curlFlags  = []credentialFlag{
		{name: "-u", glued: true, apart: true, pair: true}, {name: "-U", glued: true, apart: true, pair: true},
		{name: "--user", apart: true, pair: true}, {name: "--proxy-user", apart: true, pair: true},
	}
	program = map[string][]credentialFlag{
		"mysql": mysqlFlags, "mysqldump": mysqlFlags, "mysqladmin": mysqlFlags, "mysqlshow": mysqlFlags, "mysqlimport": mysqlFlags,
		"mysqlcheck": mysqlFlags, "mysqlslap": mysqlFlags, "mysqlsh": mysqlFlags, "mariadb": mysqlFlags, "mariadb-dump": mysqlFlags,
		"mariadb-admin": mysqlFlags, "mariadb-check": mysqlFlags, "mongo": mongoFlags, "mongosh": mongoFlags, "mongodump": mongoFlags,
		"mongorestore": mongoFlags, "mongoexport": mongoFlags, "mongoimport": mongoFlags, "cqlsh": mongoFlags, "sshpass": mongoFlags,
		"ldapsearch": ldapFlags, "ldapadd": ldapFlags, "ldapmodify": ldapFlags, "ldapdelete": ldapFlags, "ldapwhoami": ldapFlags,
		"docker": loginFlags, "podman": loginFlags, "nerdctl": loginFlags, "helm": loginFlags, "oras": loginFlags, "crane": loginFlags,
		"buildah": loginFlags, "skopeo": loginFlags, "az": loginFlags, "argocd": loginFlags,
		"curl": curlFlags, "http": {{name: "-a", apart: true, pair: true}}, "https": {{name: "-a", apart: true, pair: true}},
		"redis-cli": {{name: "-a", apart: true}}, "valkey-cli": {{name: "-a", apart: true}}, "keydb-cli": {{name: "-a", apart: true}},
		"mosquitto_pub": {{name: "-P", apart: true}}, "mosquitto_sub": {{name: "-P", apart: true}},
		"sqlcmd": {{name: "-P", glued: true, apart: true}}, "bcp": {{name: "-P", glued: true, apart: true}},
		"ipmitool": {{name: "-P", apart: true}}, "zip": {{name: "-P", apart: true}}, "unzip": {{name: "-P", glued: true, apart: true}},
		"7z": {{name: "-p", glued: true}}, "rabbitmqctl": nil, "htpasswd": nil, "mc": nil, "vault": nil, "sqlplus": nil,
	}
	programNames = regexp.MustCompile(`(?:^|[\s;|&(/'"$` + "`" + `])(` + strings.Join(alternatives(), "|") + `)[ \t]+((?:[^\n|;&\\]|\\\r?\n|\\.)*)`)
	shellWord    = regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s'"\\]+`)
	commandHints = []string{" -p", " -P", " -u", " -U", " -w", " -a", " --user", " --proxy-user", "rabbitmqctl ", "htpasswd ", "chpasswd", "alias set", "host add", "-stdin", "vault ", "sqlplus "}
	piped        = regexp.MustCompile(`(?:echo|printf)\s+(?:-\w+\s+|['"]?%s['"]?\s+)*("[^"]*"|'[^']*'|[^\s|;&'"]+)\s*\|[^\n;&]*(?:password|passphrase|token)-stdin`)
	chpasswd     = regexp.MustCompile(`echo\s+(?:-\w+\s+)?["']?[^\s:"']+:([^\s"']+)["']?\s*\|\s*(?:sudo\s+)?chpasswd`)
)

func alternatives() []string {
	var names []string
	for name := range program {
		names = append(names, regexp.QuoteMeta(name))
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // the longest of those that begin alike
	return names
}

// commands finds the secrets of programs that a script runs.
func (f *finder) commands() {
	if !slices.ContainsFunc(commandHints, func(hint string) bool { return strings.Contains(f.text, hint) }) {
		return
	}
	for _, match := range programNames.FindAllStringSubmatchIndex(f.text, -1) {
		name, from := f.text[match[2]:match[3]], match[4]
		var words []span
		for _, word := range shellWord.FindAllStringIndex(f.text[from:match[5]], -1) {
			words = append(words, span{start: from + word[0], end: from + word[1]})
		}
		text := func(i int) string { return strings.Trim(f.text[words[i].start:words[i].end], `"'`) }
		for _, found := range credentials(name, len(words), text) {
			start := words[found.word].start
			quote := len(f.text[start:words[found.word].end]) - len(strings.TrimLeft(f.text[start:words[found.word].end], `"'`))
			f.add(start+quote+found.from, words[found.word].end, reasonArgValue)
		}
	}
	if strings.Contains(f.text, "-stdin") {
		f.each(piped, reasonArgValue, func(value string) bool { return isValue(strings.Trim(value, `"'`)) })
	}
	if strings.Contains(f.text, "chpasswd") {
		f.each(chpasswd, reasonArgValue, isValue)
	}
}

// credential is a secret among the words of a command: from a byte of a word to its end.
type credential struct{ word, from int }

// credentials finds the secrets in the words after a program's name.
func credentials(name string, count int, word func(int) string) []credential {
	var found []credential
	add := func(i, from int, pair bool) {
		value := word(i)[from:]
		if pair {
			user, _, isPair := strings.Cut(value, ":")
			if !isPair {
				return
			}
			from += len(user) + 1
			value = word(i)[from:]
		}
		if isValue(value) {
			found = append(found, credential{i, from})
		}
	}
	switch name {
	case "rabbitmqctl":
		for i := 0; i+2 < count; i++ {
			if verb := word(i); verb == "add_user" || verb == "change_password" {
				add(i+2, 0, false)
			}
		}
	case "mc":
		for i := 0; i+5 < count; i++ {
			if verb := word(i) + " " + word(i+1); verb == "alias set" || verb == "host add" {
				add(i+5, 0, false)
			}
		}
	case "vault":
		for i := 1; i < count; i++ {
			if verb := word(0); verb == "kv" || verb == "write" {
				if key, _, found := strings.Cut(word(i), "="); found && !strings.HasPrefix(key, "-") {
					add(i, len(key)+1, false)
				}
			}
		}
	case "sqlplus":
		for i := 0; i < count; i++ {
			if user, rest, found := strings.Cut(word(i), "/"); found && user != "" && strings.Contains(rest, "@") {
				add(i, len(user)+1, false)
			}
		}
	case "htpasswd":
		batch := false
		for i := 0; i < count; i++ {
			batch = batch || strings.HasPrefix(word(i), "-") && strings.Contains(word(i), "b")
		}
		if batch && count > 2 {
			add(count-1, 0, false)
		}
	}
	seen := map[string]bool{}
	for i := 0; i < count; i++ {
		text := word(i)
		for _, flag := range program[name] {
			if flag.after != "" && !seen[flag.after] {
				continue
			}
			rest, matches := strings.CutPrefix(text, flag.name)
			switch {
			case !matches:
			case rest == "" && flag.apart && i+1 < count:
				add(i+1, 0, flag.pair)
			case strings.HasPrefix(rest, "="):
				add(i, len(flag.name)+1, flag.pair)
			case rest != "" && flag.glued && !strings.HasPrefix(text, "--"):
				add(i, len(flag.name), flag.pair)
			}
		}
		seen[text] = true
	}
	return found
}

// programIn is the first program of the table among the words of a command, and what follows it.
func programIn(words []string) (name string, after int) {
	for i, word := range words {
		base := word[strings.LastIndexByte(word, '/')+1:]
		if _, known := program[base]; known {
			return base, i + 1
		}
	}
	return "", 0
}
