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

test_percent if {
	evidence.percent(1, 4) == 25
	evidence.percent(0, 0) == 0
}

test_some_of if evidence.some_of(["a", "b", "c", "d", "e", "f", 7]) == "a, b, c, d, e"
