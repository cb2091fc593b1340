package sbom.ntia_complete_test

import data.lib.sbom_facts as facts
import data.lib.testing
import data.sbom.ntia_complete as rule

incomplete := facts.document({"completeness": {"ntia": facts.complete(facts.lacking)}})

test_complete if rule.violations == set() with input as facts.document({})

test_an_element_that_is_missing_fails_with_its_number if {
	found := rule.violations with input as incomplete
	testing.paths(found) == {"spec.completeness.ntia.elements.1"}
	{v.message | some v in found} == {"ntia: supplier is missing in 3 of 4, for example a, b"}
}

test_the_share_that_is_allowed if {
	enough := rule.violations with input as incomplete with data.parameters["sbom/ntia-complete"].max_missing_percent as 75
	enough == set()
	less := rule.violations with input as incomplete with data.parameters["sbom/ntia-complete"].max_missing_percent as 74
	count(less) == 1
}

test_no_component_is_not_complete if {
	found := rule.violations with input as facts.document({"completeness": {"ntia": {"components": 0, "elements": facts.elements}}})
	facts.decided(found)
}

test_unread_is_undecided if {
	found := rule.violations with input as facts.unread
	facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	lost := [["spec"], ["spec", "content"], ["spec", "completeness"], ["spec", "completeness", "ntia"], ["spec", "completeness", "ntia", "elements"]]
	every variant in testing.dropped(facts.document({}), lost) {
		found := rule.violations with input as variant
		facts.undecided(found)
	}
}

test_a_broken_document_is_undecided if {
	found := rule.violations with input as facts.broken
	facts.undecided(found)
	testing.paths(found) == {"spec.format.status"}
}

test_what_is_no_object_does_not_apply if {
	every value in [[], "text", 1, null] {
		rule.applies == false with input as value
	}
}
