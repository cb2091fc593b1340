# METADATA
# scope: package
# title: Quantities mean what was meant
# description: |
#   Finds quantities that are none (1GB, 1gi, 1e), have no digits (Gi is read as 0), or are almost surely a slip of
#   the unit: memory or ephemeral storage under 1Mi (3500m is three and a half bytes), CPU under a thousandth of a
#   core, or more CPU than the parameter allows a container (500 where 500m was meant). Values are compared exactly:
#   1288490188800m is 1.2Gi and no slip. Zero is left alone.
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# custom:
#   severity: high
#   match: {pod_templates: true}
#   not_applicable: no_quantity_stated
#   remediation: >-
#     Write memory with Mi or Gi and CPU with m or as cores.
#   fix: |
#     resources:
#       requests:
#         cpu: 500m
#         memory: 512Mi
package resources.quantity_slip

import data.lib.quantity
import data.lib.workload

default applies := false

applies if count(stated) > 0

violations contains v if {
	some entry in stated
	some name, value in entry.list
	problem := slip(name, value)
	v := object.union(
		{
			"path": array.concat(entry.path, [name]),
			"message": sprintf("%s: %s %v %s", [entry.owner, name, value, problem]),
			"seen": value,
			"expected": "a quantity with its unit",
		},
		entry.container,
	)
}

# Every list of quantities: of each container and of the whole pod.
stated := array.concat(
	[{"path": array.concat(c.path, ["resources", kind]), "list": list, "owner": concat(" ", ["container", c.name]), "container": {"container": c.name}} |
		some c in workload.containers
		some kind in ["requests", "limits"]
		list := c.value.resources[kind]
		not workload.empty[list]
	],
	[{"path": array.concat(workload.field_path(t, "resources"), [kind]), "list": list, "owner": "the pod", "container": {}} |
		some t in workload.templates
		some kind in ["requests", "limits"]
		list := t.spec.resources[kind]
		not workload.empty[list]
	],
)

# Null and "" are missing, which other rules judge.
slip(name, value) := problem if {
	not workload.empty[value]
	problem := of_quantity(name, quantity.parse(value))
}

of_quantity(_, q) := "is not a quantity" if q.valid == false

of_quantity(_, q) := "has no digits and is read as 0" if {
	q.valid
	q.digits == false
}

of_quantity(_, q) := "is negative" if q.nano < 0

of_quantity(name, q) := "is under 1Mi" if {
	sizes[name]
	q.nano > 0
	q.nano < 1048576000000000
}

of_quantity("cpu", q) := "is under a thousandth of a core" if {
	q.nano > 0
	q.nano < 1000000
}

of_quantity("cpu", q) := "is more than any node has" if q.nano > most_cpu

sizes := {"memory", "ephemeral-storage"}

most_cpu := quantity.nano(data.parameters["resources/quantity-slip"].max_cpu)
