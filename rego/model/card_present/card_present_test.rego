package model.card_present_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.card_present as rule

with_card(changes) := facts.model({"card": object.union(facts.card_spec, changes)})

judged(document) := found if found := rule.violations with input as document

test_a_card_passes if {
	rule.applies with input as facts.model({})
	judged(facts.model({})) == set()
}

test_no_card_fails if {
	found := judged(with_card({"status": "absent", "reason": "none"}))
	sbom_facts.decided(found)
	testing.paths(found) == {"spec.card.status"}
}

test_an_empty_card_fails if {
	found := judged(with_card({"characters": 199}))
	sbom_facts.decided(found)
	judged(with_card({"characters": 200})) == set()
}

test_an_unread_card_is_undecided if sbom_facts.undecided(judged(with_card({"status": "malformed", "reason": "no UTF-8"})))

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.model({}), [["spec"], ["spec", "card"], ["spec", "card", "status"], ["spec", "card", "characters"]]) {
		sbom_facts.undecided(judged(variant))
	}
}

test_nothing_is_no_model if rule.applies == false with input as null
