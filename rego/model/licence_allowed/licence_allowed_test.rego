package model.licence_allowed_test

import data.lib.model_facts as facts
import data.lib.sbom_facts
import data.lib.testing
import data.model.licence_allowed as rule

named(names) := facts.model({"licence": {"status": "stated", "names": [{"name": name, "source": "card"} | some name in names], "texts": []}})

judged(document, allow, deny) := found if {
	found := rule.violations with input as document
		with data.parameters["model/licence-allowed"].allow as allow
		with data.parameters["model/licence-allowed"].deny as deny
}

test_not_configured if not rule.applies with input as facts.model({})

test_configured if {
	rule.applies with input as facts.model({}) with data.parameters["model/licence-allowed"].deny as ["llama*"]
	rule.applies with input as facts.model({}) with data.parameters["model/licence-allowed"].allow as ["mit"]
}

test_lists_decide if {
	judged(named(["apache-2.0"]), ["Apache-2.0"], []) == set()
	judged(named(["apache-2.0"]), [], ["llama*"]) == set()
	sbom_facts.decided(judged(named(["llama3.1"]), ["apache-2.0"], []))
	sbom_facts.decided(judged(named(["llama3.1"]), [], ["Llama*"]))
	sbom_facts.decided(judged(named(["mit"]), ["*"], ["MIT"]))
}

test_every_licence_counts if {
	found := judged(named(["mit", "gpl-3.0", "agpl-3.0"]), ["mit"], [])
	testing.paths(found) == {"spec.licence.names.1", "spec.licence.names.2"}
}

test_an_unknown_licence_is_undecided if {
	sbom_facts.undecided(judged(facts.model({"licence": {"status": "absent", "names": [], "texts": []}}), ["*"], []))
	sbom_facts.undecided(judged(named([""]), ["*"], []))
}

test_lost_facts_are_never_a_pass if {
	lost := [["spec"], ["spec", "licence"], ["spec", "licence", "status"], ["spec", "licence", "names"], ["spec", "licence", "names", 0, "name"]]
	every variant in testing.dropped(facts.model({}), lost) {
		sbom_facts.undecided(judged(variant, ["*"], []))
	}
}

test_nothing_is_no_model if rule.applies == false with input as null
