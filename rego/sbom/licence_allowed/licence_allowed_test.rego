package sbom.licence_allowed_test

import data.lib.sbom_facts as facts
import data.lib.testing
import data.sbom.licence_allowed as rule

with_rows(rows) := facts.document({"licences": {"expressions": rows, "left_out": 0}})

judged(rows, allow, deny) := found if {
	found := rule.violations with input as with_rows(rows)
		with data.parameters["sbom/licence-allowed"].allow as allow
		with data.parameters["sbom/licence-allowed"].deny as deny
}

dual := facts.row("MIT OR GPL-2.0-only", "known", [["MIT"], ["GPL-2.0-only"]], ["MIT", "GPL-2.0-only"])

both := facts.row("MIT AND GPL-2.0-only", "known", [["MIT", "GPL-2.0-only"]], ["MIT", "GPL-2.0-only"])

many := facts.row("bomb", "known", null, ["MIT", "GPL-2.0-only"])

test_not_configured if rule.applies == false with input as facts.document({})

test_configured if {
	rule.applies with input as facts.document({}) with data.parameters["sbom/licence-allowed"].deny as ["GPL-*"]
	rule.applies with input as facts.document({}) with data.parameters["sbom/licence-allowed"].allow as ["MIT"]
}

test_one_alternative_is_enough if {
	judged([dual], ["MIT"], []) == set()
	judged([dual], [], ["gpl-*"]) == set()
}

test_all_parts_count if {
	facts.decided(judged([both], ["MIT"], []))
	facts.decided(judged([both], [], ["GPL-*"]))
	judged([both], ["MIT", "GPL-*"], []) == set()
}

test_deny_wins_over_allow if facts.decided(judged([both], ["*"], ["GPL-*"]))

test_each_expression_that_is_refused_is_a_violation if {
	testing.paths(judged([dual, both], ["Zlib"], [])) == {"spec.licences.expressions.0", "spec.licences.expressions.1"}
}

test_unknown_licences_are_undecided if {
	every status in ["noassertion", "absent", "unparsable", "undeclared_ref"] {
		facts.undecided(judged([facts.row("NOASSERTION", status, [], [])], ["*"], []))
		facts.undecided(judged([facts.row("NOASSERTION", status, [], [])], [], ["GPL-*"]))
	}
}

test_noassertion_is_no_name if facts.undecided(judged([facts.row("NOASSERTION", "noassertion", [], [])], ["NOASSERTION"], []))

test_none_is_a_statement if judged([facts.row("NONE", "none", [], [])], ["MIT"], []) == set()

test_too_many_alternatives if {
	facts.undecided(judged([many], ["MIT"], []))
	judged([many], ["MIT", "GPL-*"], []) == set()
}

test_rows_left_out_are_undecided if {
	subject := facts.document({"licences": {"expressions": [dual], "left_out": 3}})
	found := rule.violations with input as subject with data.parameters["sbom/licence-allowed"].allow as ["*"]
	facts.undecided(found)
}

test_unread_is_undecided if {
	found := rule.violations with input as facts.unread with data.parameters["sbom/licence-allowed"].allow as ["*"]
	facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	lost := [["spec"], ["spec", "content"], ["spec", "licences"], ["spec", "licences", "expressions"], ["spec", "licences", "expressions", 0, "status"]]
	every variant in testing.dropped(facts.document({}), lost) {
		found := rule.violations with input as variant with data.parameters["sbom/licence-allowed"].allow as ["*"]
		facts.undecided(found)
	}
}

test_a_broken_document_is_undecided if {
	found := rule.violations with input as facts.broken with data.parameters["sbom/licence-allowed"].allow as ["MIT"]
	facts.undecided(found)
	testing.paths(found) == {"spec.format.status"}
}
