package reader

import (
	"encoding/base64"
	"math"
	"regexp"
	"strings"
)

// Reasons of redactions, part of the marker.
const (
	reasonSecretData  = "secret_data"
	reasonLastApplied = "last_applied"
	reasonEnvValue    = "env_value"
	reasonURL         = "url_credentials"
	reasonToken       = "token"
	reasonPrivateKey  = "private_key"
	reasonConfigValue = "config_value"
	reasonArgValue    = "arg_value"
)

const marker = "fleetaudit:redacted:"

// markerFor replaces a value: it tells why, and a length class, never the length.
func markerFor(reason, value string) string {
	class := "129+"
	switch n := len(value); {
	case n <= 8:
		class = "1-8"
	case n <= 32:
		class = "9-32"
	case n <= 128:
		class = "33-128"
	}
	return marker + reason + ":" + class
}

var (
	bearer     = regexp.MustCompile(`(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{8,})`)
	knownToken = regexp.MustCompile(`\b(?:` + strings.Join([]string{
		`gh[pousr]_[A-Za-z0-9]{30,}`, `github_pat_[A-Za-z0-9_]{30,}`, `glpat-[A-Za-z0-9_-]{18,}`, `hf_[A-Za-z0-9]{20,}`,
		`nvapi-[A-Za-z0-9_-]{20,}`, `sk-[A-Za-z0-9_-]{20,}`, `xox[abeprs]-[A-Za-z0-9-]{10,}`, `A(?:KIA|SIA)[A-Z0-9]{16}`,
		`AIza[A-Za-z0-9_-]{30,}`, `npm_[A-Za-z0-9]{30,}`, `pypi-[A-Za-z0-9_-]{30,}`, `dckr_pat_[A-Za-z0-9_-]{20,}`,
		`hvs\.[A-Za-z0-9_-]{20,}`, `SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,
		`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, `AGE-SECRET-KEY-1[0-9A-Z]{40,}`,
		`hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}`, `discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}`,
		`bot\d{8,10}:[A-Za-z0-9_-]{30,}`, `webhook\.office\.com/webhookb2/[\w@/-]{10,}`, `[A-Za-z0-9+/]{86}==`,
	}, "|") + `)`)
	tokenHints = []string{
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "hf_", "nvapi-", "sk-", "xox", "AKIA", "ASIA", "AIza",
		"npm_", "pypi-", "dckr_pat_", "hvs.", "SG.", "eyJ", "AGE-SECRET", "hooks.slack.com", "/api/webhooks/", "bot", "webhook.office", "==",
	}
)

// secretIn looks for a secret that its shape gives away, in any text. It returns the reason, empty for none.
func secretIn(text string) string {
	if len(text) < 12 {
		return ""
	}
	if holdsPrivateKey(text) || strings.Contains(text, "LS0tLS1CRUdJTi") && encodesPrivateKey(text) {
		return reasonPrivateKey
	}
	if found := credentialsIn(text); len(found) > 0 {
		return found[0].reason
	}
	for _, hint := range tokenHints {
		if strings.Contains(text, hint) && knownToken.MatchString(text) {
			return reasonToken
		}
	}
	return ""
}

func holdsPrivateKey(text string) bool {
	return strings.Contains(text, "-----BEGIN") && strings.Contains(text, "PRIVATE KEY") || strings.Contains(text, "PuTTY-User-Key-File")
}

var privateKeyBody = regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/=]+`)

// encodesPrivateKey decodes the base64 text that starts like PEM; certificates are no secrets.
func encodesPrivateKey(text string) bool {
	for _, body := range privateKeyBody.FindAllString(text, -1) {
		head := body[:min(len(body), 80)/4*4]
		decoded, err := base64.StdEncoding.DecodeString(head)
		if err == nil && strings.Contains(string(decoded), "PRIVATE KEY") {
			return true
		}
	}
	return false
}

// looksRandom says whether a single word is random enough to be a key: long, mixed case and digits, changing class all
// the time. Digests, UUIDs, paths, host names, versions and names in any case style are not.
func looksRandom(text string) bool {
	if len(text) < 20 || len(text) > 200 {
		return false
	}
	var lower, upper, digit, changes int
	before := byte(0)
	counts := [256]int{}
	for i := 0; i < len(text); i++ {
		c := text[i]
		class := byte(0)
		switch {
		case c >= 'a' && c <= 'z':
			lower++
			class = 'a'
		case c >= 'A' && c <= 'Z':
			upper++
			class = 'A'
		case c >= '0' && c <= '9':
			digit++
			class = '0'
		case c == '+' || c == '/' || c == '=' || c == '_' || c == '-':
			class = before
		default:
			return false
		}
		if before != 0 && class != before {
			changes++
		}
		before = class
		counts[c]++
	}
	if upper < 3 || lower < 3 || digit < 2 || float64(changes)/float64(len(text)) < 0.35 {
		return false
	}
	if strings.Count(text, "/") > 2 && isSlashed(text) {
		return false
	}
	entropy := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			entropy -= p * math.Log2(p)
		}
	}
	return entropy >= 3.6
}

// isSlashed says whether a text reads like a path of words.
func isSlashed(text string) bool {
	for part := range strings.SplitSeq(text, "/") {
		if len(part) > 16 {
			return false
		}
	}
	return true
}
