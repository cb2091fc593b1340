package lib.redaction_test

import data.lib.redaction

test_reason_and_marker if {
	text := "postgres://user:fleetaudit:redacted:url_credentials:33-128@db.example.test/x"
	redaction.reason(text) == "url_credentials"
	redaction.only(text) == "fleetaudit:redacted:url_credentials:33-128"
	redaction.only("fleetaudit:redacted:token:129+") == "fleetaudit:redacted:token:129+"
}

test_text_around_a_broken_marker_is_not_repeated if {
	every value in ["fleetaudit:redacted:", "key=fleetaudit:redacted:", 5, null] {
		redaction.only(value) == redaction.marker
		redaction.reason(value) == ""
	}
}
