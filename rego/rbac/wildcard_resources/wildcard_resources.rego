# METADATA
# scope: package
# title: Roles name the resources they grant
# description: |
#   The resource "*" grants every resource of its API group, subresources included, and those of custom resources that are
#   installed later. In the core group, or with the API group "*", that includes Secrets. The paths "*" and "/*" do the same for
#   URLs.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/security/rbac-good-practices/
# - ref: https://kubernetes.io/docs/reference/access-authn-authz/rbac/#referring-to-resources
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: rbac.authorization.k8s.io
#       kinds: [Role, ClusterRole]
#   not_applicable: no_rules_or_built_in_role
#   remediation: |
#     List the resources that the holder of the role really needs, with their API group. A group of one vendor whose resources
#     may all be granted can be named in the parameter allowed_groups.
#   fix: |
#     rules:
#     - apiGroups: [apps]
#       resources: [deployments]
#       verbs: [get, list, watch]
package rbac.wildcard_resources

import data.lib.rbac

default applies := false

applies if rbac.speaks

violations contains violation if {
	applies
	some hit in rbac.wildcards(rbac.rules, "resources")
	not allowed(hit.rule)
	violation := {
		"path": ["rules", hit.rule.index, "resources", hit.place],
		"message": sprintf("rule %d grants every resource in API group %s", [
			hit.rule.index,
			rbac.group_names(hit.rule.groups),
		]),
		"seen": {"apiGroups": hit.rule.groups, "resources": ["*"]},
		"expected": "the resources in use, by name",
	}
}

violations contains violation if {
	applies
	some hit in array.concat(rbac.wildcards(rbac.rules, "urls"), rbac.places_of("/*", rbac.rules, "urls"))
	violation := {
		"path": ["rules", hit.rule.index, "nonResourceURLs", hit.place],
		"message": sprintf("rule %d grants every URL of the API server", [hit.rule.index]),
		"seen": hit.rule.urls[hit.place],
		"expected": "the URLs in use, by name",
	}
}

default allowed(_) := false

allowed(rule) if {
	count(rule.groups) > 0
	every group in rule.groups {
		group in data.parameters["rbac/wildcard-resources"].allowed_groups
	}
}
