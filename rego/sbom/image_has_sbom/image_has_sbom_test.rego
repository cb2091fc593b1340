package sbom.image_has_sbom_test

import data.lib.sbom_facts as facts
import data.lib.testing
import data.sbom.image_has_sbom as rule

pinned := concat("@", ["registry.example.test/demo", facts.digest])

other := "registry.example.test/demo@sha256:cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"

tagged := "registry.example.test/demo:1"

inventory(documents) := {"artifacts.fleetaudit.dev/Sbom": {"": documents}}

running(image) := testing.pod({"containers": [{"name": "main", "image": image}]})

judged(image, documents) := found if {
	found := rule.violations with input as running(image) with data.inventory as inventory(documents)
}

test_the_digest_is_described if {
	rule.applies with input as running(pinned) with data.inventory as inventory([facts.document({})])
	judged(pinned, [facts.document({})]) == set()
}

test_another_digest_is_not if {
	found := judged(other, [facts.document({})])
	facts.decided(found)
	testing.paths(found) == {"spec.containers.0.image"}
}

test_containers_of_every_type if {
	subject := testing.pod(testing.every_type({"image": other}))
	found := rule.violations with input as subject with data.inventory as inventory([facts.document({})])
	testing.names(found) == {"main", "init", "sidecar", "debugger"}
}

test_a_tag_binds_nothing if {
	found := judged(tagged, [facts.document({})])
	facts.decided(found)
	{v.message | some v in found} == {"container main: named by tag, and a bill of materials can only be bound to a digest"}
}

test_a_tag_may_be_accepted if {
	found := rule.violations with input as running(tagged)
		with data.inventory as inventory([facts.document({})])
		with data.parameters["sbom/image-has-sbom"].accept_tag as true
	found == set()
	unknown := rule.violations with input as running("registry.example.test/demo:2")
		with data.inventory as inventory([facts.document({})])
		with data.parameters["sbom/image-has-sbom"].accept_tag as true
	facts.decided(unknown)
}

test_an_unread_document_may_describe_it if {
	facts.undecided(judged(other, [facts.document({}), facts.unread]))
	judged(pinned, [facts.document({}), facts.unread]) == set()
	facts.decided(judged(tagged, [facts.document({}), facts.unread]))
}

test_a_broken_document_describes_nothing if {
	found := judged(pinned, [facts.broken])
	facts.decided(found)
	{v.message | some v in found} == {"container main: the bill of materials that describes this digest is not a valid document"}
	facts.decided(judged(other, [facts.broken]))
	judged(pinned, [facts.broken, facts.document({})]) == set()
	judged(pinned, [facts.document({"format": {"status": "unknown"}})]) == set()
	tag := rule.violations with input as running(tagged)
		with data.inventory as inventory([facts.broken])
		with data.parameters["sbom/image-has-sbom"].accept_tag as true
	facts.decided(tag)
}

test_not_asked_without_documents if {
	rule.applies == false with input as running(pinned) with data.inventory as {}
	rule.violations == set() with input as running(pinned) with data.inventory as {}
}

test_required_without_documents_fails if {
	rule.applies with input as running(pinned) with data.inventory as {} with data.parameters["sbom/image-has-sbom"].required as true
	found := rule.violations with input as running(pinned) with data.inventory as {} with data.parameters["sbom/image-has-sbom"].required as true
	facts.decided(found)
}

test_no_image_no_question if {
	rule.applies == false with input as testing.config_map with data.inventory as inventory([facts.document({})])
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(facts.document({}), [["spec"], ["spec", "subjects"]]) {
		facts.undecided(judged(pinned, [variant]))
	}
	every variant in testing.dropped(facts.document({}), [["spec", "subjects", "listed", 0, "images"], ["spec", "format"], ["spec", "format", "status"]]) {
		facts.decided(judged(pinned, [variant]))
	}
}
