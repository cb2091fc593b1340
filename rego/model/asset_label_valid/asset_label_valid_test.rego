package model.asset_label_valid_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.asset_label_valid as rule

absent := facts.model({"label": {"status": "absent", "place": "", "problems": []}})

test_a_valid_label_passes if {
	rule.applies with input as facts.model({})
	found := rule.violations with input as facts.model({})
	found == set()
}

test_each_problem_fails if {
	problem := {"place": "sensitivity_level", "message": "2 is none of them"}
	found := rule.violations with input as facts.model({"label": {"status": "invalid", "problems": [problem, problem]}})
	sbom_facts.decided(found)
	testing.paths(found) == {"spec.label.problems.0", "spec.label.problems.1"}
	silent := rule.violations with input as facts.model({"label": {"status": "invalid", "problems": []}})
	sbom_facts.decided(silent)
}

test_absence_is_asked_about_when_labels_are_required if {
	not rule.applies with input as absent
	rule.applies with input as absent with data.parameters["model/asset-label-valid"].required as true
	found := rule.violations with input as absent with data.parameters["model/asset-label-valid"].required as true
	sbom_facts.decided(found)
}

test_an_unread_configuration_is_undecided if {
	unread := facts.model({"label": {"status": "unknown", "problems": []}, "config": {"status": "malformed", "reason": "not JSON"}})
	rule.applies with input as unread
	found := rule.violations with input as unread
	sbom_facts.undecided(found)
	{v.message | some v in found} == {"nothing is known of its label: not JSON"}
	valid := rule.violations with input as facts.model({}) with data.parameters["model/asset-label-valid"].required as true
	valid == set()
	not_asked := rule.violations with input as absent
	not_asked == set()
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.model({}), [["spec"], ["spec", "label"], ["spec", "label", "status"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		sbom_facts.undecided(found)
	}
}

test_nothing_is_no_model if rule.applies == false with input as null
