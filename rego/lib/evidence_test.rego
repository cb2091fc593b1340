package lib.evidence_test

import data.lib.evidence

test_read if {
	evidence.read with input as {"spec": {"content": {"status": "read"}}}
	not evidence.read with input as {"spec": {"content": {"status": "unread"}}}
	not evidence.read with input as {}
}

test_why_unread if {
	evidence.why_unread == "not UTF-8" with input as {"spec": {"content": {"status": "unread", "reason": "not UTF-8"}}}
	evidence.why_unread != "" with input as {}
}

test_fits if {
	evidence.fits("gpl-2.0-only", ["GPL-*"])
	evidence.fits("MIT", ["mit"])
	not evidence.fits("MIT", ["MIT-*", "GPL-*"])
	not evidence.fits("MIT", [])
	evidence.fits("GPL-2.0-only WITH Classpath-exception-2.0", ["GPL-*"])
}

test_only_the_star_is_special if {
	evidence.fits("Acme [Security] {team}?", ["acme [security] {team}?"])
	evidence.fits("Acme [Security]", ["acme [*"])
	evidence.fits(`a\b`, [`A\B`])
	not evidence.fits("Acme S", ["acme [security]"])
	not evidence.fits("ab", ["a?"])
	not evidence.fits("a", ["{a,b}"])
}

test_believed if {
	evidence.believed([{"status": "ignored", "source": ".trivyignore"}], [".trivy*"])
	not evidence.believed([{"status": "ignored", "source": ".trivyignore"}], [])
	not evidence.believed([{"status": "", "source": ".trivyignore"}], ["*"])
	not evidence.believed([], ["*"])
	not evidence.believed([{"status": "ignored", "source": "a"}, {"status": "ignored", "source": "b"}], ["a"])
}

test_broken if {
	evidence.broken with input as {"spec": {"format": {"status": "invalid"}}}
	evidence.broken with input as {"spec": {}}
	not evidence.broken with input as {"spec": {"format": {"status": "valid"}}}
	not evidence.broken with input as {"spec": {"format": {"status": "unknown"}}}
}

test_percent if {
	evidence.percent(1, 4) == 25
	evidence.percent(0, 0) == 0
}

test_some_of if evidence.some_of(["a", "b", "c", "d", "e", "f", 7]) == "a, b, c, d, e"
