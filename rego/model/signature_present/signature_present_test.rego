package model.signature_present_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.signature_present as rule

judged(document, signatures) := found if {
	found := rule.violations with input as document with data.inventory as facts.inventory([], signatures)
}

test_a_signed_model_passes if {
	rule.applies with input as facts.model({}) with data.inventory as facts.inventory([], [facts.signed({})])
	judged(facts.model({}), [facts.signed({})]) == set()
}

test_not_asked_without_signatures if {
	not rule.applies with input as facts.model({}) with data.inventory as facts.inventory([], [])
	rule.applies with input as facts.model({})
		with data.inventory as facts.inventory([], [])
		with data.parameters["model/signature-present"].required as true
	found := rule.violations with input as facts.model({})
		with data.inventory as facts.inventory([], [])
		with data.parameters["model/signature-present"].required as true
	sbom_facts.decided(found)
	{v.message | some v in found} == {"nobody has signed it"}
}

test_the_signature_of_another_model_is_none_of_this_one if {
	sbom_facts.decided(judged(facts.model({}), [facts.signed({"folder": "n"})]))
}

test_a_stranger_fails if {
	found := judged(facts.model({}), [facts.signed({"status": "wrong_identity", "message": "a stranger signed it"})])
	sbom_facts.decided(found)
	{v.message | some v in found} == {"it is signed, but a stranger signed it"}
}

test_one_good_signature_is_enough if {
	judged(facts.model({}), [facts.signed({"status": "wrong_identity"}), facts.signed({})]) == set()
}

test_file_by_file if {
	one := facts.signed({"file": "model.safetensors"})
	judged(facts.model({}), [one]) == set()
	two := {"weights": {"count": 2, "listed": [{"name": "model.safetensors"}, {"name": "b.gguf"}]}}
	sbom_facts.decided(judged(facts.model(two), [one]))
	judged(facts.model(two), [one, facts.signed({"file": "b.gguf"})]) == set()
	more := {"weights": {"count": 200, "listed": [{"name": "model.safetensors"}]}}
	sbom_facts.decided(judged(facts.model(more), [one]))
}

test_what_could_not_be_checked_is_undecided if {
	every status in ["could_not_check", "", "something else"] {
		sbom_facts.undecided(judged(facts.model({}), [facts.signed({"status": status})]))
	}
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.model({}), [["spec"], ["spec", "folder"]]) {
		sbom_facts.undecided(judged(variant, [facts.signed({})]))
	}
	every variant in testing.dropped(facts.signed({}), [["spec"], ["spec", "status"], ["spec", "folder"]]) {
		count(judged(facts.model({}), [variant])) > 0
	}
}

test_nothing_is_no_model if {
	rule.applies == false with input as null with data.inventory as facts.inventory([], [facts.signed({})])
}

test_a_folder_without_weights_is_not_signed_file_by_file if {
	sbom_facts.decided(judged(facts.model({"weights": {"count": 0, "listed": []}}), [facts.signed({"file": "x"})]))
}

test_a_good_signature_decides_beside_one_that_could_not_be_checked if {
	judged(facts.model({}), [facts.signed({"status": "could_not_check"}), facts.signed({})]) == set()
	found := judged(facts.model({}), [facts.signed({"status": "could_not_check", "message": "no key"})])
	count(found) == 1
}

test_only_reasons_of_wrong_signatures_are_told if {
	found := judged(facts.model({}), [facts.signed({"file": "b.gguf", "message": "it is right"})])
	{v.message | some v in found} == {"nobody has signed it"}
}
