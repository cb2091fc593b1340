package reader

import (
	"regexp"
	"strings"
)

// Credentials in URLs and in what looks like one.

var (
	// The second group takes passwords that should have been escaped: what stands before the last @ of a word.
	urlCredentials = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#'"@<>:\[]*:([^\s'"<>]*)@`)
	urlToken       = regexp.MustCompile(`(?i)[?&](?:access_token|token|api_?key|key|sig|signature|hmac|code|secret|password|x-(?:amz|goog)-(?:signature|credential|security-token))=([^&\s'"#]{6,})`)
	urlUser        = regexp.MustCompile(`(?i)https?://([^\s/?#'"@<>:]{16,})@`)
	// user:password@host without a scheme, as drivers of databases take it, and image names with credentials.
	bareLogin = regexp.MustCompile(`(?:^|[\s'"=,])([A-Za-z0-9_.+-]+):([^\s:'"@/]+(?:[^\s'"]*[^\s'"@/])?)@((?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+)(:\d+|/|\(|$|[\s'"])`)
	version   = regexp.MustCompile(`^v?\d+(?:\.\d+){1,2}(?:-[\w.]+)?$`)
	port      = regexp.MustCompile(`^\d+(?:/|$)`)
)

// What stands before a colon where a mail address or a digest follows.
var noUsers = set("user serviceaccount group email mailto e-mail acct sip xmpp principal domain contact owner mail team maintainer from to cc")

// hasAddress is a quick look for what credentials stand before, or in; the digest of an image is none.
func hasAddress(text string) bool {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "@")
		if !found {
			break
		}
		if !strings.HasPrefix(after, "sha256:") && !strings.HasPrefix(after, "sha512:") {
			return true
		}
		rest = after
	}
	return strings.Contains(text, "?") && strings.Contains(text, "://")
}

// credentialsIn finds them; texts with several are found whole.
func credentialsIn(text string) []span {
	if !hasAddress(text) {
		return nil
	}
	var found []span
	if strings.Contains(text, "://") {
		for _, match := range urlCredentials.FindAllStringSubmatchIndex(text, -1) {
			value := text[match[2]:match[3]]
			// An @ after the port belongs to the path.
			if !port.MatchString(value) && isLiteral(value) && !isFormat(value) {
				found = append(found, span{match[2], match[3], reasonURL})
			}
		}
		for _, pattern := range []*regexp.Regexp{urlToken, urlUser} {
			for _, match := range pattern.FindAllStringSubmatchIndex(text, -1) {
				if value := text[match[2]:match[3]]; isLiteral(value) && !isFormat(value) && (pattern != urlUser || isKeyLike(value)) {
					found = append(found, span{match[2], match[3], reasonURL})
				}
			}
		}
	}
	if !strings.Contains(text, "@") || !strings.Contains(text, ":") {
		return found
	}
	for _, match := range bareLogin.FindAllStringSubmatchIndex(text, -1) {
		user, secret := text[match[2]:match[3]], text[match[4]:match[5]]
		host, after := text[match[6]:match[7]], text[match[8]:match[9]]
		isHost := strings.Contains(host, ".") && !version.MatchString(host) || host == "localhost" || strings.HasPrefix(after, ":") || after == "("
		mail := noUsers[strings.ToLower(user)] && after != "/" && after != "(" && !strings.HasPrefix(after, ":")
		if isHost && !mail && host != "sha256" && host != "sha512" && isLiteral(secret) && !isFormat(secret) {
			found = append(found, span{match[4], match[5], reasonURL})
		}
	}
	return found
}
