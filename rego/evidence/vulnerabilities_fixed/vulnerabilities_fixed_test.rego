package evidence.vulnerabilities_fixed_test

import data.evidence.vulnerabilities_fixed as rule
import data.lib.results
import data.lib.testing

finding := {
	"kind": "vulnerability",
	"id": "CVE-2099-0001",
	"severity": "HIGH",
	"package": "libx",
	"version": "1",
	"fixed": "2",
	"purl": "pkg:deb/debian/libx@1?arch=amd64",
	"target": "demo",
	"resource": "",
	"set_aside": null,
}

report(findings) := results.result("VulnerabilityReport", {
	"status": "scanned",
	"subject": {"name": "registry.example.test/demo:1", "references": ["demo:1"], "images": ["sha256:abab"]},
	"findings": findings,
	"left_out": 0,
	"unsupported_systems": [],
	"unscanned": [],
	"counts": {"vulnerability": {"CRITICAL": 0, "HIGH": 1, "MEDIUM": 0, "LOW": 0, "UNKNOWN": 0}},
})

judged(subject) := found if found := rule.violations with input as subject with data.inventory as {}

with_change(change) := report([object.union(finding, change)])

test_clean if {
	rule.applies with input as report([finding])
	judged(json.patch(report([]), [{"op": "replace", "path": "/spec/counts/vulnerability/HIGH", "value": 0}])) == set()
	judged(json.patch(with_change({"severity": "LOW"}), [{"op": "replace", "path": "/spec/counts/vulnerability/HIGH", "value": 0}])) == set()
}

test_a_finding_fails if {
	found := judged(report([finding]))
	results.decided(found)
	testing.paths(found) == {"spec.findings.0"}
	{v.message | some v in found} == {"CVE-2099-0001 (HIGH) libx demo"}
}

test_unknown_severity_is_undecided if {
	subject := json.patch(with_change({"severity": "UNKNOWN"}), [{"op": "replace", "path": "/spec/counts/vulnerability/HIGH", "value": 0}])
	results.undecided(judged(subject))
}

test_nothing_scanned_is_undecided if {
	subject := json.patch(report([]), [{"op": "replace", "path": "/spec/status", "value": "not_evaluated"}, {"op": "replace", "path": "/spec/counts/vulnerability/HIGH", "value": 0}])
	results.undecided(judged(subject))
}

scanned_for(class) := json.patch(report([]), [
	{"op": "replace", "path": "/spec/counts/vulnerability/HIGH", "value": 0},
	{"op": "add", "path": "/spec/form", "value": "trivy"},
	{"op": "add", "path": "/spec/targets", "value": [{"class": class}]},
])

test_a_scan_of_something_else_is_undecided if {
	every class in ["secret", "config", "license"] { results.undecided(judged(scanned_for(class))) }
	every class in ["os-pkgs", "lang-pkgs", ""] { judged(scanned_for(class)) == set() }
}

test_sarif_without_a_vulnerability_is_undecided if {
	none := {"op": "replace", "path": "/spec/counts/vulnerability/HIGH", "value": 0}
	form := {"op": "add", "path": "/spec/form", "value": "sarif"}
	results.undecided(judged(json.patch(report([]), [none, form])))
	judged(json.patch(with_change({"severity": "LOW"}), [none, form])) == set()
}

test_left_out_findings_are_undecided if {
	results.undecided(judged(report([])))
}

test_parameters if {
	secret := with_change({"kind": "secret"})
	kinds := rule.violations with input as secret with data.inventory as {} with data.parameters["evidence/vulnerabilities-fixed"].kinds as ["secret"]
	results.decided(kinds)
	ignored := rule.violations with input as report([finding]) with data.inventory as {} with data.parameters["evidence/vulnerabilities-fixed"].ignored as ["cve-2099-*"]
	ignored == set()
	without := rule.violations with input as with_change({"fixed": ""}) with data.inventory as {} with data.parameters["evidence/vulnerabilities-fixed"].only_with_fix as true
	without == set()
	fixable := rule.violations with input as report([finding]) with data.inventory as {} with data.parameters["evidence/vulnerabilities-fixed"].only_with_fix as true
	results.decided(fixable)
	{v.expected | some v in fixable} == {"version 2"}
	unfixed := judged(with_change({"fixed": ""}))
	{v.expected | some v in unfixed} == {"no such finding"}

	# Only vulnerabilities have fixes: the parameter says nothing about the rest.
	other := rule.violations with input as json.patch(secret, [{"op": "replace", "path": "/spec/findings/0/fixed", "value": ""}])
		with data.inventory as {}
		with data.parameters["evidence/vulnerabilities-fixed"].kinds as ["secret"]
		with data.parameters["evidence/vulnerabilities-fixed"].only_with_fix as true
	results.decided(other)
}

# ---- set aside

put_aside(status, source) := with_change({"set_aside": {"status": status, "source": source}})

trusting(subject, sources) := found if {
	found := rule.violations with input as subject
		with data.inventory as {}
		with data.parameters["evidence/vulnerabilities-fixed"].trusted_suppressions as sources
}

test_a_finding_set_aside_is_a_finding if {
	found := judged(put_aside("ignored", ".trivyignore"))
	results.decided(found)
	{v.message | some v in found} == {"CVE-2099-0001 (HIGH) libx demo (set aside: ignored, by .trivyignore)"}
	results.decided(judged(put_aside("accepted", "")))
}

test_a_trusted_source_takes_it_away if {
	trusting(put_aside("ignored", ".trivyignore"), [".TRIVYIGNORE"]) == set()
	trusting(put_aside("accepted", "external, inSource"), ["external"]) == set()
	results.decided(trusting(put_aside("ignored", ".trivyignore"), ["vex.json"]))
	every status in ["affected", "under_investigation", "unknown", ""] {
		results.decided(trusting(put_aside(status, ".trivyignore"), ["*"]))
	}
	results.decided(trusting(report([finding]), ["*"]))
}

# ---- what a scanner can't know

changed(path, value) := json.patch(report([]), [
	{"op": "replace", "path": "/spec/counts/vulnerability/HIGH", "value": 0},
	{"op": "replace", "path": path, "value": value},
])

test_an_unsupported_system_fails if {
	found := judged(changed("/spec/unsupported_systems", ["alpine 3.9.4"]))
	results.decided(found)
	testing.paths(found) == {"spec.unsupported_systems.0"}
	secrets := rule.violations with input as changed("/spec/unsupported_systems", ["alpine 3.9.4"])
		with data.inventory as {}
		with data.parameters["evidence/vulnerabilities-fixed"].kinds as ["secret"]
	secrets == set()
}

test_what_could_not_be_scanned_is_undecided if {
	results.undecided(judged(changed("/spec/unscanned", ["Deployment ml/serve"])))
}

# ---- VEX

statement := {
	"vulnerabilities": ["CVE-2099-0001"],
	"status": "not_affected",
	"justification": "vulnerable_code_not_present",
	"products": [{"ids": ["pkg:deb/debian/libx@1"], "subcomponents": []}],
}

said(change) := found if {
	document := {"spec": {"author": "Ann", "statements": [object.union(statement, change)]}}
	found := rule.violations with input as report([finding])
		with data.inventory as {"artifacts.fleetaudit.dev/VexDocument": {"": [document]}}
		with data.parameters["evidence/vulnerabilities-fixed"].vex_authors as ["Ann"]
}

about(ids, inner) := said({"products": [{"ids": ids, "subcomponents": inner}]})

test_a_statement_about_the_package if {
	said({}) == set()
	about(["pkg:deb/debian/libx"], []) == set()
	results.decided(about(["pkg:deb/debian/lib"], []))
	results.decided(about(["pkg:deb/debian/libx@2"], []))
}

test_a_statement_about_the_artifact if {
	about(["pkg:oci/demo@sha256%3Aabab"], []) == set()
	about(["registry.example.test/demo:1"], []) == set()
	about(["demo:1"], ["pkg:deb/debian/libx@1"]) == set()
	results.decided(about(["demo:1"], ["pkg:deb/debian/liby@1"]))
	results.decided(about(["other:1"], ["pkg:deb/debian/libx@1"]))
	results.decided(about([], []))
}

test_only_two_statuses_take_away if {
	said({"status": "fixed", "justification": ""}) == set()
	results.decided(said({"justification": ""}))
	every status in ["affected", "under_investigation", "unknown", ""] {
		results.decided(said({"status": status}))
	}
	results.decided(said({"vulnerabilities": ["CVE-2099-0002"]}))
}

test_authors_that_are_believed if {
	document := {"spec": {"author": "Ann", "statements": [statement]}}
	inventory := {"artifacts.fleetaudit.dev/VexDocument": {"": [document]}}
	believed := rule.violations with input as report([finding]) with data.inventory as inventory with data.parameters["evidence/vulnerabilities-fixed"].vex_authors as ["ann"]
	believed == set()
	others := rule.violations with input as report([finding]) with data.inventory as inventory with data.parameters["evidence/vulnerabilities-fixed"].vex_authors as ["Bob"]
	results.decided(others)
	nobody := rule.violations with input as report([finding]) with data.inventory as inventory
	results.decided(nobody)
	unnamed := rule.violations with input as report([finding])
		with data.inventory as {"artifacts.fleetaudit.dev/VexDocument": {"": [{"spec": {"statements": [statement]}}]}}
		with data.parameters["evidence/vulnerabilities-fixed"].vex_authors as ["Ann"]
	results.decided(unnamed)
}

test_lost_facts_are_never_a_pass if {
	every variant in testing.dropped(report([finding]), [["spec"], ["spec", "status"], ["spec", "findings"], ["spec", "unsupported_systems"], ["spec", "unscanned"]]) {
		count(judged(variant)) > 0
	}
	every variant in testing.dropped(report([finding]), [["spec", "findings", 0, "severity"], ["spec", "findings", 0, "kind"]]) {
		count(judged(variant)) > 0
	}
}
