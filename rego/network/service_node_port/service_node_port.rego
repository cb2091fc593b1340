# METADATA
# scope: package
# title: No Service opens a port on every node
# description: |
#   A Service of type NodePort listens on every address of every node, past the gateway, its certificates and its logs.
# related_resources:
# - ref: https://kubernetes.io/docs/concepts/services-networking/service/#type-nodeport
# custom:
#   severity: medium
#   match:
#     kinds:
#     - group: ""
#       kinds: [Service]
#   not_applicable: no_service_of_pods
#   remediation: Use type ClusterIP and let a gateway or ingress lead to it.
#   fix: |
#     spec:
#       type: ClusterIP
package network.service_node_port

import data.lib.object as obj

default applies := false

applies if {
	is_object(object.get(input, "spec", null))
	obj.text(input, ["spec", "type"]) != "ExternalName"
}

violations contains violation if {
	applies
	obj.text(input, ["spec", "type"]) == "NodePort"
	not allowed
	violation := {
		"path": ["spec", "type"],
		"message": "opens a port on every node",
		"seen": "NodePort",
		"expected": "ClusterIP",
	}
}

default allowed := false

allowed if obj.namespace in data.parameters["network/service-node-port"].allowed_namespaces
