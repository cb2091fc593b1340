package model.pickle_imports_allowed_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.pickle_imports_allowed as rule

judged(changes) := found if found := rule.violations with input as facts.pickle(changes)

import_of(name) := {"imports": {"count": 1, "listed": [{"name": name, "count": 1}]}}

test_a_pickle_of_tensors_passes if {
	rule.applies with input as facts.pickle({})
	judged({}) == set()
}

test_other_formats_hold_no_pickle if {
	not rule.applies with input as facts.safetensors({})
	not rule.applies with input as facts.unexamined
	rule.applies == false with input as null
}

test_an_import_fails_by_name if {
	found := judged(import_of("os.system"))
	sbom_facts.decided(found)
	testing.paths(found) == {"spec.pickle.imports.listed.0"}
	{v.seen | some v in found} == {"os.system"}
}

test_imports_may_be_allowed if {
	found := rule.violations with input as facts.pickle(import_of("sklearn.tree.DecisionTreeClassifier"))
		with data.parameters["model/pickle-imports-allowed"].imports as ["sklearn.*"]
	found == set()
	others := rule.violations with input as facts.pickle(import_of("os.system"))
		with data.parameters["model/pickle-imports-allowed"].imports as ["sklearn.*"]
	sbom_facts.decided(others)
}

test_imports_that_are_not_listed_fail if {
	found := judged({"imports": {"count": 300, "listed": []}})
	sbom_facts.decided(found)
}

test_each_trick_fails if {
	every key in ["unresolved", "extensions", "changed_imports"] {
		found := judged({key: 1})
		sbom_facts.decided(found)
		testing.paths(found) == {sprintf("spec.pickle.%s", [key])}
	}
	every key in ["broken", "odd"] {
		found := judged({key: {"count": 1, "listed": [{"name": "data.pkl", "reason": "twice"}]}})
		sbom_facts.decided(found)
	}
}

test_what_cannot_be_read_is_not_safe if {
	every status in ["malformed", "over_limit"] {
		found := judged({"status": status, "reason": "it has no end"})
		sbom_facts.decided(found)
		testing.paths(found) == {"spec.pickle.status"}
	}
}

test_what_was_not_looked_at_is_undecided if {
	sbom_facts.undecided(judged({"unexamined": {"count": 1, "listed": [{"name": "code/", "reason": "a TorchScript program"}]}}))
	sbom_facts.undecided(judged({"pickles": 0, "form": "zip"}))
}

test_arrays_of_numbers_hold_none if judged({"pickles": 0, "form": "npz"}) == set()

test_lost_facts_are_never_a_pass if {
	lost := [
		["spec"],
		["spec", "format"],
		["spec", "pickle"],
		["spec", "pickle", "status"],
		["spec", "pickle", "pickles"],
		["spec", "pickle", "imports"],
		["spec", "pickle", "imports", "count"],
		["spec", "pickle", "unresolved"],
		["spec", "pickle", "extensions"],
		["spec", "pickle", "changed_imports"],
		["spec", "pickle", "broken"],
		["spec", "pickle", "odd"],
		["spec", "pickle", "unexamined"],
	]
	every path in lost {
		every variant in testing.dropped(facts.pickle({}), [path]) {
			not passes(variant, path)
		}
	}
}

# The format alone may be lost: the facts of the pickle are still there.
passes(variant, path) if {
	path != ["spec", "format"]
	passing(variant)
}

passing(variant) if {
	found := rule.violations with input as variant
	found == set()
}

passing(variant) if {
	applies := rule.applies with input as variant
	applies == false
}

test_one_import_that_is_not_listed_is_enough if sbom_facts.decided(judged({"imports": {"count": 1, "listed": []}}))

test_ten_members_are_told if {
	rows := [{"name": sprintf("%v.pkl", [n]), "reason": "twice"} | some n in numbers.range(1, 12)]
	count(judged({"odd": {"count": 12, "listed": rows}})) == 10
	count(judged({"unexamined": {"count": 12, "listed": rows}})) == 10
}

test_reasons_are_told if {
	found := judged({"odd": {"count": 1, "listed": [{"name": "a.pkl", "reason": "twice"}]}})
	{v.message | some v in found} == {"a.pkl: twice"}
	ended := judged({"status": "over_limit", "reason": "too deep"})
	{v.message | some v in ended} == {"it can't be read to its end: too deep"}
	silent := judged({"status": "malformed", "reason": ""})
	{v.message | some v in silent} == {"it can't be read to its end: malformed"}
}
