package model.card_complete_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.card_complete as rule

judged(document) := found if found := rule.violations with input as document

test_a_whole_card_passes if {
	rule.applies with input as facts.card({})
	judged(facts.card({})) == set()
}

test_each_section_is_asked_for if {
	every i in [0, 1, 2, 3] {
		sections := [section | some j, section in facts.card_spec.sections; i != j]
		sbom_facts.decided(judged(facts.card({"sections": sections})))
	}
}

test_an_empty_section_is_none if {
	empty := [object.union(section, {"characters": 0}) | some section in facts.card_spec.sections]
	sbom_facts.decided(judged(facts.card({"sections": empty})))
}

test_fields_are_asked_for if {
	found := rule.violations with input as facts.card({"fields": {"license": [], "base_model": null}})
		with data.parameters["model/card-complete"].fields as ["license", "base_model"]
	testing.paths(found) == {"spec.fields.license", "spec.fields.base_model"}
	there := rule.violations with input as facts.card({}) with data.parameters["model/card-complete"].fields as ["license"]
	there == set()
}

test_one_character_is_text if {
	short := [object.union(section, {"characters": 1}) | some section in facts.card_spec.sections]
	judged(facts.card({"sections": short})) == set()
}

test_an_unread_card_is_undecided if sbom_facts.undecided(judged(facts.card({"status": "malformed", "reason": "no end"})))

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.card({}), [["spec"], ["spec", "status"], ["spec", "sections"], ["spec", "sections", 0, "title"], ["spec", "sections", 0, "characters"]]) {
		rule.applies with input as variant
		count(judged(variant)) > 0
	}
}

test_nothing_is_no_card if rule.applies == false with input as null
