# METADATA
# scope: package
# title: No Service claims external addresses
# description: |
#   A Service with externalIPs receives traffic for addresses that nobody checked it owns, so whoever can create Services can
#   intercept traffic of others (CVE-2020-8554).
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/services-networking/service/#external-ips
# - ref: https://github.com/kubernetes/kubernetes/issues/97076
# custom:
#   severity: high
#   match:
#     kinds:
#     - group: ""
#       kinds: [Service]
#   not_applicable: no_service_of_pods
#   remediation: Remove externalIPs; use a gateway, or a load balancer that assigns the address.
#   fix: |
#     spec:
#       externalIPs: []
package network.service_external_ips

import data.lib.object as obj

default applies := false

applies if {
	is_object(object.get(input, "spec", null))
	obj.text(input, ["spec", "type"]) != "ExternalName"
}

violations contains violation if {
	applies
	some index, address in obj.list(input, ["spec", "externalIPs"])
	not obj.absent(address)
	not allowed(address)
	violation := {
		"path": ["spec", "externalIPs", index],
		"message": sprintf("claims the external address %v", [address]),
		"seen": address,
		"expected": "no external addresses",
	}
}

default allowed(_) := false

allowed(address) if address in data.parameters["network/service-external-ips"].allowed_addresses
