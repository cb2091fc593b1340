package model.weights_format_safe_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.weights_format_safe as rule

judged(document) := found if found := rule.violations with input as document

test_a_sound_file_passes if {
	rule.applies with input as facts.safetensors({})
	judged(facts.safetensors({})) == set()
	judged(facts.safetensors({"format": "gguf", "ending": {"status": "open", "expected": null}})) == set()
}

test_a_pickle_fails if {
	found := judged(facts.pickle({}))
	sbom_facts.decided(found)
	testing.paths(found) == {"spec.format"}
}

test_only_accepted_formats_pass if {
	found := rule.violations with input as facts.safetensors({}) with data.parameters["model/weights-format-safe"].formats as ["gguf"]
	sbom_facts.decided(found)
}

test_a_pickle_is_never_accepted if {
	found := rule.violations with input as facts.pickle({}) with data.parameters["model/weights-format-safe"].formats as ["pickle"]
	sbom_facts.decided(found)
}

test_files_may_be_tolerated if {
	tolerated := ["m/*.pt"]
	not rule.applies with input as facts.pickle({}) with data.parameters["model/weights-format-safe"].tolerated as tolerated
	rule.applies with input as facts.safetensors({}) with data.parameters["model/weights-format-safe"].tolerated as tolerated
}

test_a_wrong_ending_fails if {
	found := judged(facts.safetensors({"ending": {"status": "differs", "expected": "gguf"}}))
	sbom_facts.decided(found)
	testing.paths(found) == {"spec.ending"}
}

test_each_problem_of_the_header_fails if {
	problem := {"code": "hole", "message": "a hole", "count": 2, "examples": ["a"]}
	found := judged(facts.safetensors({"header": {"status": "invalid", "reason": "a hole", "problems": [problem, problem]}}))
	sbom_facts.decided(found)
	testing.paths(found) == {"spec.header.problems.0", "spec.header.problems.1"}
	sbom_facts.decided(judged(facts.safetensors({"header": {"status": "invalid", "problems": []}})))
}

test_what_is_not_examined_is_undecided if {
	sbom_facts.undecided(judged(facts.unexamined))
	sbom_facts.undecided(judged(facts.safetensors({"header": {"status": "unknown", "reason": "too large", "problems": []}})))
	found := rule.violations with input as facts.unexamined with data.parameters["model/weights-format-safe"].formats as ["onnx"]
	sbom_facts.undecided(found)
}

test_lost_facts_are_never_a_pass if {
	lost := [["spec"], ["spec", "format"], ["spec", "examined"], ["spec", "header"], ["spec", "header", "status"], ["spec", "ending"], ["spec", "ending", "status"]]
	every variant in testing.dropped(facts.safetensors({}), lost) {
		rule.applies with input as variant
		found := rule.violations with input as variant
		count(found) > 0
	}
}

test_nothing_is_no_file if rule.applies == false with input as null
