package reader

import (
	"regexp"
	"strings"
)

// Name and value beside each other, as languages and formats write them.

// pairForm is one way to write a pair. The name is in the first group of its pattern, the value in the last that matched;
// with valueFirst it is the other way round.
type pairForm struct {
	signs      []string // a text without any of them has no such pair
	pattern    *regexp.Regexp
	isSecret   func(name, value string) bool
	valueFirst bool
}

var pairForms = []pairForm{
	// --api-key x
	{signs: []string{"-"}, isSecret: isGivenValue, pattern: regexp.MustCompile(
		`(?:^|\s)--?([A-Za-z][A-Za-z0-9_.-]{1,60})[ \t]+("[^"]*"|'[^']*'|[^\s'"-][^\s'"]*)`)},
	// aws configure set aws_secret_access_key x
	{signs: []string{"set", "config", "add_header"}, isSecret: isGivenValue, pattern: regexp.MustCompile(
		`(?:^|\s)(?:config[ \t]+set|configure[ \t]+set|set|config|setx|proxy_set_header|add_header)\s+(?:--?\w+\s+)*` +
			`([A-Za-z_/][\w.:/-]{1,80})\s+("[^"]*"|'[^']*'|[^\s'"|;&]+)`)},
	// "apiKeys": ["x", "y"]
	{signs: []string{`"`}, isSecret: isSecretList, pattern: regexp.MustCompile(
		`"([A-Za-z_][\w.:-]{0,80})"\s*:\s*\[\s*("[^\]]*")\s*\]`)},
	// Quoted values in any language: password = "x", token: 'x', :secret => 'x', 'password' => 'x', ['password'] = 'x'
	{signs: []string{`"`}, isSecret: isQuotedValue, pattern: regexp.MustCompile(
		`(?:^|[^\w.-])([A-Za-z_][\w.-]{0,80})["']?\]?\s*(?::?[:=]|=>)\s*"([^"\n]*)"`)},
	{signs: []string{`'`}, isSecret: isQuotedValue, pattern: regexp.MustCompile(
		`(?:^|[^\w.-])([A-Za-z_][\w.-]{0,80})["']?\]?\s*(?::?[:=]|=>)\s*'([^'\n]*)'`)},
	// define('DB_PASSWORD', 'x')
	{signs: []string{"define("}, isSecret: isQuotedValue, pattern: regexp.MustCompile(
		`define\(\s*["']([A-Za-z_][\w.-]{0,80})["']\s*,\s*["']([^"'\n]*)["']`)},
	// {default_pass, <<"x">>}
	{signs: []string{`<<"`}, isSecret: isQuotedValue, pattern: regexp.MustCompile(
		`\{\s*([A-Za-z_][\w.-]{0,80})\s*,\s*<<"([^"\n]*)"`)},
	// variable "db_password" { default = "x" }
	{signs: []string{"default"}, isSecret: isQuotedValue, pattern: regexp.MustCompile(
		`variable\s+"([A-Za-z_][\w.-]{0,80})"\s*\{[^}]*?\bdefault\s*=\s*"([^"\n]*)"`)},
	// {password: x, user: y}
	{signs: []string{"{"}, isSecret: isNamedValue, pattern: regexp.MustCompile(
		`[{,]\s*([A-Za-z_][\w.-]{0,80})\s*:\s+([^\s,{}\[\]"'][^,{}\n]*)`)},
	// <password>x</password>, <property name="password">x</property>, <name>password</name><value>x</value>
	{signs: []string{"</"}, isSecret: isQuotedValue, pattern: regexp.MustCompile(
		`<([A-Za-z_][\w.:-]{0,80})(?:\s[^<>]*)?>\s*([^<>]+?)\s*</`)},
	{signs: []string{"</"}, isSecret: isQuotedValue, pattern: regexp.MustCompile(
		`\s(?:name|key|id)=["']([A-Za-z_][\w.:-]{0,80})["'][^<>]*>\s*([^<>]+?)\s*</`)},
	{signs: []string{"<name>", "<key>"}, isSecret: isQuotedValue, pattern: regexp.MustCompile(
		`<(?:name|key)>\s*([A-Za-z_][\w.:-]{0,80})\s*</(?:name|key)>\s*<(?:value|string)>\s*([^<>]+?)\s*</`)},
	// name: DB_PASS and value: x below or beside it, in YAML or JSON
	{signs: []string{"value"}, isSecret: isNamedValue, pattern: regexp.MustCompile(
		`(?m)name\\*["']?[ \t]*:[ \t]*\\*["']?([\w.-]+)\\*["']?(?:,\s*|[ \t]*\r?\n[ \t]*)\\*["']?value\\*["']?[ \t]*:[ \t]*\\*(?:"([^"\\\n]*)|'([^'\n]*)|([^\s"'][^\n]*?)[ \t]*(?:[,}]|\r?$))`)},
	{signs: []string{"value"}, isSecret: isNamedValue, valueFirst: true, pattern: regexp.MustCompile(
		`(?m)value\\*["']?[ \t]*:[ \t]*\\*["']?([^\s"'\\,}]+)\\*["']?(?:,\s*|[ \t]*\r?\n[ \t]*)\\*["']?name\\*["']?[ \t]*:[ \t]*\\*["']?([\w.-]+)`)},
}

// pairs finds name and value beside each other.
func (f *finder) pairs() {
	if strings.Contains(f.text, "=") {
		f.assigned(0, len(f.text), 0)
	}
	if strings.Contains(f.text, `"`) {
		f.json(0, len(f.text), 0)
	}
	for i := range pairForms {
		if form := &pairForms[i]; containsAny(f.text, form.signs) {
			f.form(form)
		}
	}
	for _, other := range otherForms {
		if containsAny(f.text, other.signs) {
			f.each(other.pattern, reasonArgValue, isValue)
		}
	}
}

func (f *finder) form(form *pairForm) {
	for _, match := range form.pattern.FindAllStringSubmatchIndex(f.text, -1) {
		name, value := 2, 4
		for last := len(match) - 2; value < last && match[value] < 0; value += 2 {
		}
		if form.valueFirst {
			name, value = 4, 2
		}
		if match[value] >= 0 && form.isSecret(f.text[match[name]:match[name+1]], f.text[match[value]:match[value+1]]) {
			f.add(match[value], match[value+1], reasonArgValue)
		}
	}
}

func isSecretList(name, value string) bool { return namesSecret(name) && !isFormat(value) }

// otherForms are secrets that no name announces; the last group is the secret.
var otherForms = []struct {
	signs   []string
	pattern *regexp.Regexp
}{
	{[]string{"--from-literal"}, regexp.MustCompile(`--from-literal[= ]["']?[^=\s"']+=("[^"]*"|'[^']*'|[^\s'"]+)`)},
	{[]string{"pass:"}, regexp.MustCompile(`(?:^|\s)pass:([^\s'"]{3,})`)},
	{[]string{"dentified", "DENTIFIED"}, regexp.MustCompile(`(?i)\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?["']([^"'\n]+)["']`)},
	{[]string{"ASSWORD '", "assword '"}, regexp.MustCompile(`(?i)\bpassword '([^'\n]+)'`)},
	{[]string{" >"}, regexp.MustCompile(`(?mi)^\s*(?:acl\s+setuser|user)\s+\S+\s+(?:(?:on|off|reset\w*|all\w+|[~&+@-]\S*)\s+)+>(\S+)`)},
	{[]string{"thin:"}, regexp.MustCompile(`\bthin:[\w$#]+/([^\s/@"']+)@`)},
	{[]string{"chpasswd"}, regexp.MustCompile(`(?m)^[ \t]+(?:- )?[a-z_][\w-]*:([^\s:]{3,})[ \t]*$`)},
}

// unnamed are the words that otherForms need a look for, where no hint is.
var unnamed = []string{"--from-literal", "dentified", "DENTIFIED", " >", "thin:"}

func containsAny(text string, signs []string) bool {
	for _, sign := range signs {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}
