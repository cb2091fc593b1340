package sbom.licences_known_test

import data.lib.sbom_facts as facts
import data.lib.testing
import data.sbom.licences_known as rule

counted(counts) := facts.document({"licences": {
	"counts": object.union({"known": 0, "none": 0, "noassertion": 0, "absent": 0, "unparsable": 0, "undeclared_ref": 0}, counts),
	"expressions": [facts.row("NOASSERTION", "noassertion", [], [])],
}})

test_known if {
	rule.applies with input as facts.document({})
	rule.violations == set() with input as facts.document({})
	rule.violations == set() with input as counted({"known": 3, "none": 2})
}

test_each_kind_of_unknown_is_a_violation if {
	found := rule.violations with input as counted({"known": 1, "noassertion": 1, "absent": 1, "unparsable": 1, "undeclared_ref": 1})
	facts.decided(found)
	testing.paths(found) == {
		"spec.licences.counts.noassertion",
		"spec.licences.counts.absent",
		"spec.licences.counts.unparsable",
		"spec.licences.counts.undeclared_ref",
	}
}

test_the_share_that_is_allowed if {
	subject := counted({"known": 3, "noassertion": 1})
	enough := rule.violations with input as subject with data.parameters["sbom/licences-known"].max_unknown_percent as 25
	enough == set()
	less := rule.violations with input as subject with data.parameters["sbom/licences-known"].max_unknown_percent as 24
	{v.message | some v in less} == {"noassertion: 1 of 4 components, for example x, y"}
}

test_no_component_no_question if {
	subject := counted({})
	rule.applies == false with input as subject
}

test_unread_is_undecided if {
	rule.applies with input as facts.unread
	found := rule.violations with input as facts.unread
	facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.document({}), [["spec"], ["spec", "content"]]) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		facts.undecided(found)
	}
	lost := json.patch(facts.document({}), [{"op": "remove", "path": ["spec", "licences"]}])
	rule.applies with input as lost
	found := rule.violations with input as lost
	facts.undecided(found)
}

test_a_broken_document_is_undecided if {
	found := rule.violations with input as facts.broken
	facts.undecided(found)
	testing.paths(found) == {"spec.format.status"}
}

test_a_broken_document_without_components_is_asked if {
	rule.applies with input as object.union(facts.broken, {"spec": object.union(facts.broken.spec, {"licences": {"counts": {}}})})
}
