package model.custom_code_absent_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.custom_code_absent as rule

with_code(changes) := facts.model({"code": object.union(facts.model_spec.code, changes)})

judged(document) := found if found := rule.violations with input as document

reference(remote) := {"file": "config.json", "reference": "modeling.Model", "remote": remote}

test_no_code_passes if {
	rule.applies with input as facts.model({})
	judged(facts.model({})) == set()
}

test_each_class_fails if {
	found := judged(with_code({"named": {"count": 2, "listed": [reference(false), reference(true)]}}))
	sbom_facts.decided(found)
	testing.paths(found) == {"spec.code.named.listed.0", "spec.code.named.listed.1"}
	{v.message | some v in found} == {
		"config.json names code of its own: modeling.Model",
		"config.json names code of another repository: modeling.Model",
	}
}

test_those_not_listed_count if {
	sbom_facts.decided(judged(with_code({"named": {"count": 70, "listed": []}})))
	sbom_facts.decided(judged(with_code({"named": {"count": 1, "listed": []}})))
}

test_an_unread_file_is_undecided if {
	sbom_facts.undecided(judged(with_code({"status": "unknown", "unread": [{"name": "config.json", "reason": "not JSON"}]})))
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.model({}), [["spec"], ["spec", "code"], ["spec", "code", "status"], ["spec", "code", "named"], ["spec", "code", "named", "count"]]) {
		rule.applies with input as variant
		sbom_facts.undecided(judged(variant))
	}
}

test_nothing_is_no_model if rule.applies == false with input as null
