package model.served_digest_known_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.served_digest_known as rule

other := "sha256:efefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefef"

key := "fleetaudit.dev/model-digest"

server := {"containers": [{"name": "main", "image": "vllm/vllm-openai:v1", "args": ["--model=/models/a"]}]}

annotated(value) := json.patch(testing.pod(server), [{"op": "add", "path": "/metadata/annotations", "value": {key: value}}])

judged(document, models, signatures) := found if {
	found := rule.violations with input as document with data.inventory as facts.inventory(models, signatures)
}

models := [facts.model({})]

test_the_folders_digest_passes if {
	rule.applies with input as annotated(facts.digest) with data.inventory as facts.inventory(models, [])
	judged(annotated(facts.digest), models, []) == set()
	judged(annotated(facts.weights_digest), models, []) == set()
	judged(annotated(concat(", ", [facts.digest, facts.weights_digest])), models, []) == set()
	judged(annotated(facts.digest), [], [facts.signed({})]) == set()
}

test_another_digest_fails if {
	found := judged(annotated(other), models, [])
	sbom_facts.decided(found)
	testing.paths(found) == {concat(".", ["metadata.annotations", key])}
	sbom_facts.decided(judged(annotated(facts.digest), [], [facts.signed({"status": "invalid"})]))
}

test_every_digest_counts if {
	found := judged(annotated(concat(",", [facts.digest, other])), models, [])
	{v.seen | some v in found} == {other}
}

test_the_annotation_of_pods_counts if {
	document := json.patch(testing.deployment(server), [{"op": "add", "path": "/spec/template/metadata/annotations", "value": {key: other}}])
	found := judged(document, models, [])
	testing.paths(found) == {concat(".", ["spec.template.metadata.annotations", key])}
}

address(digest) := testing.inference_service({"model": {"storageUri": sprintf("s3://models/sha256-%s/", [substring(digest, 7, -1)])}})

test_the_address_of_the_model_counts if {
	judged(address(facts.digest), models, []) == set()
	found := judged(address(other), models, [])
	testing.paths(found) == {"spec.predictor.model.storageUri"}
	image := testing.inference_service({"model": {"storageUri": sprintf("oci://registry.example.test/m@%s", [other])}})
	not rule.applies with input as image with data.inventory as facts.inventory(models, [])
}

test_no_digest_is_not_asked_about_unless_required if {
	not rule.applies with input as testing.pod(server) with data.inventory as facts.inventory(models, [])
	not rule.applies with input as annotated(other) with data.inventory as facts.inventory([], [])
	rule.applies with input as testing.pod(server)
		with data.inventory as facts.inventory([], [])
		with data.parameters["model/served-digest-known"].required as true
	found := rule.violations with input as testing.pod(server)
		with data.inventory as facts.inventory(models, [])
		with data.parameters["model/served-digest-known"].required as true
	sbom_facts.decided(found)
}

test_pods_that_serve_nothing_are_not_asked if {
	plain := testing.pod({"containers": [{"name": "main", "image": "nginx:1"}]})
	not rule.applies with input as plain
		with data.inventory as facts.inventory(models, [])
		with data.parameters["model/served-digest-known"].required as true
}

test_what_is_no_digest_fails if {
	every value in ["latest", "", "sha256:abc", 1, null] {
		sbom_facts.decided(judged(annotated(value), models, []))
	}
}

test_lost_facts_are_never_a_pass if {
	lost := [["spec"], ["spec", "digest"], ["spec", "digest", "status"], ["spec", "digest", "value"], ["spec", "weights"], ["spec", "weights", "listed"], ["spec", "weights", "count"]]
	every variant in testing.dropped(facts.model({}), lost) {
		sbom_facts.undecided(judged(annotated(other), [variant], []))
	}
}

test_nothing_is_no_workload if rule.applies == false with input as null

half_known := facts.model({"digest": {"status": "unknown", "value": null}})

test_a_known_digest_passes_beside_a_model_that_is_not_known if {
	judged(annotated(facts.digest), [facts.model({}), half_known], []) == set()
	sbom_facts.undecided(judged(annotated(other), [facts.model({}), half_known], []))
	sbom_facts.decided(judged(annotated("latest"), [half_known], []))
	testing.paths(judged(annotated("latest"), [half_known], [])) == {concat(".", ["metadata.annotations", key])}
	count(judged(annotated("latest"), [half_known], [])) == 1
}

test_weights_that_are_not_listed_may_be_the_ones if {
	more := facts.model({"weights": {"count": 500, "listed": facts.model_spec.weights.listed}})
	sbom_facts.undecided(judged(annotated(other), [more], []))
}

test_a_server_that_names_its_digest_passes_where_that_is_required if {
	found := rule.violations with input as annotated(facts.digest)
		with data.inventory as facts.inventory(models, [])
		with data.parameters["model/served-digest-known"].required as true
	found == set()
	plain := rule.violations with input as testing.pod({"containers": [{"name": "main", "image": "nginx:1"}]})
		with data.inventory as facts.inventory(models, [])
		with data.parameters["model/served-digest-known"].required as true
	plain == set()
}

test_capitals_do_not_matter if judged(annotated(upper(facts.digest)), models, []) == set()
