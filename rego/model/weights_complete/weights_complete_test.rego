package model.weights_complete_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.weights_complete as rule

judged(document) := found if found := rule.violations with input as document

one := {"count": 1, "listed": ["model-00002-of-00002.safetensors"]}

test_a_whole_model_passes if {
	rule.applies with input as facts.model({})
	judged(facts.model({})) == set()
	judged(facts.model({"shards": object.union(facts.model_spec.shards, {"status": "none"})})) == set()
}

test_what_is_missing_or_elsewhere_fails if {
	every key in ["missing", "outside"] {
		found := judged(facts.model({"shards": object.union(facts.model_spec.shards, {"status": "incomplete", key: one})}))
		sbom_facts.decided(found)
		testing.paths(found) == {sprintf("spec.shards.%s", [key])}
	}
	sbom_facts.decided(judged(facts.model({"links": one})))
	sbom_facts.decided(judged(facts.model({"shards": object.union(facts.model_spec.shards, {"status": "malformed", "reason": "not JSON"})})))
	sbom_facts.decided(judged(facts.model({"shards": object.union(facts.model_spec.shards, {"status": "incomplete"})})))
}

test_a_folder_without_weights_is_undecided if sbom_facts.undecided(judged(facts.model({"weights": {"count": 0, "listed": []}})))

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.model({}), [["spec"], ["spec", "shards"], ["spec", "shards", "status"], ["spec", "weights"], ["spec", "weights", "count"], ["spec", "links"], ["spec", "links", "count"]]) {
		rule.applies with input as variant
		sbom_facts.undecided(judged(variant))
	}
}

test_nothing_is_no_model if rule.applies == false with input as null
