# METADATA
# scope: package
# title: Ingress rules name their host
# description: |
#   A rule without a host, or a default backend, answers for every name that leads to the controller, and a wildcard for every name of a domain,
#   whoever owns it: requests meant for another tenant, or for nobody, arrive here.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/services-networking/ingress/#hostname-wildcards
# custom:
#   severity: medium
#   match:
#     kinds:
#     - group: networking.k8s.io
#       kinds: [Ingress]
#     - group: extensions
#       kinds: [Ingress]
#   not_applicable: routes_nothing
#   remediation: Name the host of each rule. A wildcard that is meant can be listed in the parameter allowed_hosts.
#   fix: |
#     spec:
#       rules:
#       - host: llm.example.com
package network.ingress_wildcard_host

import data.lib.object as obj

default applies := false

applies if count(hosts) > 0

# {path, host}, the host "" where a rule or a lone default backend names none.
hosts := array.concat(
	[{"path": ["spec", "rules", index, "host"], "host": obj.text(rule, ["host"])} |
		some index, rule in obj.list(input, ["spec", "rules"])
	],
	[{"path": ["spec", field], "host": ""} |
		some field in ["defaultBackend", "backend"]
		count(obj.mapping(input, ["spec", field])) > 0
	],
)

violations contains violation if {
	applies
	some entry in hosts
	wide(entry.host)
	not allowed(entry.host)
	violation := {
		"path": entry.path,
		"message": message(entry.host),
		"seen": entry.host,
		"expected": "a host name without wildcard",
	}
}

default allowed(_) := false

allowed(host) if host in data.parameters["network/ingress-wildcard-host"].allowed_hosts

wide("")

wide(host) if startswith(host, "*")

message("") := "answers for every host"

message(host) := sprintf("answers for every host that matches %s", [host]) if host != ""
