package rbac.aggregated_roles_test

import data.lib.expect
import data.rbac.aggregated_roles as rule

outcome(object, roles) := expect.outcome(applies, violations) if {
	inventory := {"rbac.authorization.k8s.io/ClusterRole": {"": roles}}
	applies := rule.applies with input as object with data.inventory as inventory
	violations := rule.violations with input as object with data.inventory as inventory
}

messages(object, roles) := {violation.message |
	some violation in rule.violations with input as object
		with data.inventory as {"rbac.authorization.k8s.io/ClusterRole": {"": roles}}
}

aggregate(name, labels, selector) := {
	"apiVersion": "rbac.authorization.k8s.io/v1",
	"kind": "ClusterRole",
	"metadata": {"name": name, "labels": labels},
	"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": selector}]},
	"rules": [],
}

viewer := aggregate("model-viewer", {}, {"to-viewer": "true"})

source(name, label, rules) := {"metadata": {"name": name, "labels": {label: "true"}}, "rules": rules}

reads_secrets := [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}]

harmless := [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]

test_fails_on_each_danger if {
	messages(viewer, [source("s", "to-viewer", reads_secrets)]) == {"takes in ClusterRole s, whose rule 0 grants list on secrets"}
	every rules in [
		[{"apiGroups": ["apps"], "resources": ["*"], "verbs": ["get"]}],
		[{"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["*"]}],
		[{"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"]}],
	] {
		outcome(viewer, [source("s", "to-viewer", rules)]) == "fail"
	}
}

test_passes_on_harmless_sources if {
	outcome(viewer, [viewer, source("s", "to-viewer", harmless)]) == "pass"
	outcome(viewer, []) == "pass"
}

test_passes_over_roles_it_does_not_select if {
	outcome(viewer, [source("s", "to-editor", reads_secrets)]) == "pass"
}

test_takes_in_what_its_sources_take_in if {
	middle := aggregate("middle", {"to-viewer": "true"}, {"to-middle": "true"})
	outcome(viewer, [viewer, middle, source("s", "to-middle", reads_secrets)]) == "fail"
	outcome(viewer, [viewer, middle, source("s", "to-middle", harmless)]) == "pass"
}

test_loops_end if {
	one := aggregate("one", {"to-one": "true", "to-two": "true"}, {"to-one": "true"})
	two := aggregate("two", {"to-one": "true"}, {"to-two": "true"})
	outcome(one, [one, two]) == "pass"
	outcome(one, [one, one, two, source("s", "to-two", reads_secrets)]) == "fail"
}

test_empty_selector_takes_in_everything if {
	everything := expect.replaced(viewer, ["aggregationRule", "clusterRoleSelectors"], [{}])
	outcome(everything, [source("s", "other", reads_secrets)]) == "fail"
}

test_what_joins_view_is_judged if {
	joiner := {
		"metadata": {"name": "j", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
		"rules": reads_secrets,
	}
	outcome(joiner, []) == "fail"
	outcome(object.union(joiner, {"rules": harmless}), []) == "pass"
	every variant in expect.without(joiner, ["metadata", "labels", "rbac.authorization.k8s.io/aggregate-to-view"]) {
		outcome(variant, []) == "skip"
	}
}

test_does_not_apply_without_selectors if {
	every path in [["aggregationRule"], ["aggregationRule", "clusterRoleSelectors"]] {
		every variant in expect.without(viewer, path) {
			outcome(variant, [source("s", "to-viewer", reads_secrets)]) == "skip"
		}
	}
}

test_does_not_apply_to_what_kubernetes_installs if {
	admin := aggregate("admin", {"kubernetes.io/bootstrapping": "rbac-defaults"}, {"to-admin": "true"})
	outcome(admin, [source("s", "to-admin", reads_secrets)]) == "skip"
}

test_answers_whatever_is_damaged if {
	every variant in expect.damaged(viewer) {
		outcome(variant, [source("s", "to-viewer", reads_secrets)]) in {"skip", "pass", "fail"}
	}
	every variant in expect.damaged(source("s", "to-viewer", reads_secrets)) {
		outcome(viewer, [viewer, variant]) in {"pass", "fail"}
	}
}
