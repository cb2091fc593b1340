package sbom.profile_complete_test

import data.lib.sbom_facts as facts
import data.lib.testing
import data.sbom.profile_complete as rule

test_not_configured if rule.applies == false with input as facts.document({})

test_complete if {
	rule.applies with input as facts.document({}) with data.parameters["sbom/profile-complete"].profiles as ["cisa", "bsi"]
	found := rule.violations with input as facts.document({}) with data.parameters["sbom/profile-complete"].profiles as ["cisa", "bsi"]
	found == set()
}

test_only_what_is_asked_for_counts if {
	subject := facts.document({"completeness": {"bsi": facts.complete(facts.lacking)}})
	cisa := rule.violations with input as subject with data.parameters["sbom/profile-complete"].profiles as ["cisa"]
	cisa == set()
	bsi := rule.violations with input as subject with data.parameters["sbom/profile-complete"].profiles as ["bsi"]
	testing.paths(bsi) == {"spec.completeness.bsi.elements.1"}
}

test_what_has_no_place_is_undecided if {
	subject := facts.document({"completeness": {"bsi": object.union(facts.complete(facts.elements), {"unchecked": ["executable"]})}})
	found := rule.violations with input as subject with data.parameters["sbom/profile-complete"].profiles as ["bsi"]
	facts.undecided(found)
}

test_a_list_that_nobody_knows_is_undecided if {
	found := rule.violations with input as facts.document({}) with data.parameters["sbom/profile-complete"].profiles as ["other"]
	facts.undecided(found)
}

test_unread_is_undecided if {
	found := rule.violations with input as facts.unread with data.parameters["sbom/profile-complete"].profiles as ["bsi"]
	facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.document({}), [["spec"], ["spec", "completeness"], ["spec", "completeness", "bsi"]]) {
		found := rule.violations with input as variant with data.parameters["sbom/profile-complete"].profiles as ["bsi"]
		facts.undecided(found)
	}
}

test_a_broken_document_is_undecided if {
	found := rule.violations with input as facts.broken with data.parameters["sbom/profile-complete"].profiles as ["cisa"]
	facts.undecided(found)
	testing.paths(found) == {"spec.format.status"}
}
