# METADATA
# scope: package
# title: Every web listener of a Gateway has TLS
# description: |
#   A listener of protocol HTTP carries prompts, answers and keys readable. It passes when every HTTPRoute that attaches to it
#   does nothing but redirect, and no GRPCRoute does, which can't. HTTPS and TLS listeners must name certificates, unless TLS is
#   passed through to the backend.
#   Listeners of TCP, UDP and of other protocols are not judged.
# related_resources:
# - ref: https://gateway-api.sigs.k8s.io/guides/tls/
# - ref: https://gateway-api.sigs.k8s.io/guides/http-redirect-rewrite/
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: gateway.networking.k8s.io
#       kinds: [Gateway]
#   not_applicable: no_web_listener
#   remediation: Give the listener protocol HTTPS and a certificate, or attach only a redirect to it.
#   fix: |
#     spec:
#       listeners:
#       - name: https
#         port: 443
#         protocol: HTTPS
#         tls:
#           mode: Terminate
#           certificateRefs:
#           - name: llm-tls
#   context:
#   - group: gateway.networking.k8s.io
#     kinds: [HTTPRoute]
#     fields: [spec.parentRefs, spec.rules]
#   - group: gateway.networking.k8s.io
#     kinds: [GRPCRoute]
#     fields: [spec.parentRefs]
package network.gateway_tls

import data.lib.object as obj

default applies := false

applies if count(listeners) > 0

listeners := [{"index": index, "value": listener, "protocol": protocol} |
	some index, listener in obj.list(input, ["spec", "listeners"])
	protocol := obj.text(listener, ["protocol"])
	protocol in {"HTTP", "HTTPS", "TLS"}
]

violations contains violation if {
	applies
	some listener in listeners
	listener.protocol == "HTTP"
	not redirects_only(obj.text(listener.value, ["name"]))
	violation := {
		"path": ["spec", "listeners", listener.index, "protocol"],
		"message": sprintf("listener %s is served without TLS", [obj.text(listener.value, ["name"])]),
		"seen": "HTTP",
		"expected": "HTTPS, or only redirects attached",
	}
}

violations contains violation if {
	applies
	some listener in listeners
	listener.protocol in {"HTTPS", "TLS"}
	not passed_through(listener)
	not has_certificate(listener.value)
	violation := {
		"path": ["spec", "listeners", listener.index, "tls", "certificateRefs"],
		"message": sprintf("listener %s has no certificate", [obj.text(listener.value, ["name"])]),
		"seen": null,
		"expected": "a reference to the Secret with the certificate",
	}
}

default passed_through(_) := false

passed_through(listener) if {
	listener.protocol == "TLS"
	obj.text(listener.value, ["tls", "mode"]) == "Passthrough"
}

# Some controllers fetch the certificate by themselves, as told by options or annotations.
default has_certificate(_) := false

has_certificate(listener) if {
	some reference in obj.list(listener, ["tls", "certificateRefs"])
	obj.text(reference, ["name"]) != ""
}

has_certificate(listener) if count(obj.mapping(listener, ["tls", "options"])) > 0

default redirects_only(_) := false

redirects_only(name) if {
	attached := [route | some route in routes; attaches(route, name)]
	count(attached) > 0
	every route in attached {
		redirects(route)
	}
	carrying := [route | some route in obj.everywhere("gateway.networking.k8s.io/GRPCRoute"); attaches(route, name)]
	count(carrying) == 0
}

# A route without a section name attaches to every listener.
attaches(route, listener) if {
	some parent in obj.list(route, ["spec", "parentRefs"])
	parent.name == obj.name
	obj.text(parent, ["kind"]) in {"", "Gateway"}
	obj.text(parent, ["sectionName"]) in {"", listener}
	named([obj.text(parent, ["namespace"]), obj.text(route, ["metadata", "namespace"])]) == named([obj.namespace])
}

# The first namespace that is set; objects that set none land in default.
named(namespaces) := [namespace | some namespace in array.concat(namespaces, ["default"]); namespace != ""][0]

redirects(route) if {
	rules := obj.list(route, ["spec", "rules"])
	count(rules) > 0
	every rule in rules {
		some filter in obj.list(rule, ["filters"])
		filter.type == "RequestRedirect"
		lower(obj.text(filter, ["requestRedirect", "scheme"])) == "https"
	}
}

routes := obj.everywhere("gateway.networking.k8s.io/HTTPRoute")
