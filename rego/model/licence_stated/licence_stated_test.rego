package model.licence_stated_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.licence_stated as rule

test_a_stated_licence_passes if {
	rule.applies with input as facts.model({})
	found := rule.violations with input as facts.model({})
	found == set()
}

test_no_licence_fails if {
	found := rule.violations with input as facts.model({"licence": {"status": "absent", "names": [], "texts": []}})
	sbom_facts.decided(found)
	testing.paths(found) == {"spec.licence.status"}
}

test_an_unread_card_is_undecided if {
	found := rule.violations with input as facts.model({"licence": {"status": "unknown", "names": [], "texts": []}})
	sbom_facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.model({}), [["spec"], ["spec", "licence"], ["spec", "licence", "status"], ["spec", "licence", "names"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		sbom_facts.undecided(found)
	}
}

test_nothing_is_no_model if rule.applies == false with input as null
