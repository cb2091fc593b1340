# METADATA
# scope: package
# title: Every host of an Ingress has a certificate
# description: |
#   Each host under rules must be named under tls, by itself or by a wildcard for its first label; a tls entry without hosts
#   covers all of them. A default backend answers for every other host, which only an entry without hosts covers. An entry
#   without secretName counts: what certificate the controller shows then is its own setting, which no manifest tells.
#   Prompts, answers and API keys otherwise travel readable. An annotation that hands TLS to a load
#   balancer (parameter tls_annotations) covers every host.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/services-networking/ingress/#tls
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: networking.k8s.io
#       kinds: [Ingress]
#     - group: extensions
#       kinds: [Ingress]
#   not_applicable: routes_nothing
#   remediation: List the host under spec.tls with the secret that holds its certificate.
#   fix: |
#     spec:
#       tls:
#       - hosts: [llm.example.com]
#         secretName: llm-tls
package network.ingress_tls

import data.lib.network
import data.lib.object as obj

default applies := false

applies if count(routes) > 0

# Where requests come in: {path, host}, the host "" for any.
routes := array.concat(
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
	not elsewhere
	some route in routes
	not covered(route.host)
	violation := {
		"path": route.path,
		"message": sprintf("%s is served without TLS", [host_name(route.host)]),
		"seen": route.host,
		"expected": "the host under spec.tls",
	}
}

entries := [entry | some entry in obj.list(input, ["spec", "tls"]); is_object(entry)]

default covered(_) := false

covered(_) if {
	some entry in entries
	count(obj.list(entry, ["hosts"])) == 0
}

covered(host) if {
	host != ""
	some entry in entries
	some name in obj.list(entry, ["hosts"])
	is_string(name)
	network.covers(name, host)
}

default elsewhere := false

elsewhere if {
	some key in data.parameters["network/ingress-tls"].tls_annotations
	value := object.get(obj.annotations, key, null)
	not obj.absent(value)
	not lower(trim_space(sprintf("%v", [value]))) in {"", "none", "false"}
}

host_name("") := "any host"

host_name(host) := host if host != ""
