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

applies if {
	some c in workload.containers
	some kind in kinds
	not workload.empty[object.get(c.value, ["resources", kind], null)]
}

applies if {
	some t in workload.templates
	some kind in kinds
	not workload.empty[object.get(t.spec, ["resources", kind], null)]
}

violations contains v if {
	some c in workload.containers
	some kind in kinds
	some name, value in c.value.resources[kind]
	not regex.match(object.get(usual, name, "^$"), value)
	problem := slip(name, value)
	v := {
		"path": array.concat(c.path, ["resources", kind, name]),
		"message": sprintf("container %s: %s %v %s", [c.name, name, value, problem]),
		"seen": value,
		"expected": "a quantity with its unit",
		"container": c.name,
	}
}

violations contains v if {
	some t in workload.templates
	some kind in kinds
	some name, value in t.spec.resources[kind]
	problem := slip(name, value)
	v := {
		"path": array.concat(workload.field_path(t, "resources"), [kind, name]),
		"message": sprintf("the pod: %s %v %s", [name, value, problem]),
		"seen": value,
		"expected": "a quantity with its unit",
	}
}

kinds := ["requests", "limits"]

# Null and "" are missing, which other rules judge.
slip(name, value) := problem if {
	not workload.empty[value]
	problem := of_quantity(name, quantity.parse(value))
}

of_quantity(_, q) := "is not a quantity" if {
	not q.valid
} else := "has no digits and is read as 0" if {
	not q.digits
} else := "is negative" if {
	q.nano < 0
}

of_quantity(name, q) := "is under 1Mi" if {
	sizes[name]
	q.nano > 0
	q.nano < 1048576000000000
}

of_quantity("cpu", q) := "is under a thousandth of a core" if {
	q.nano > 0
	q.nano < 1000000
} else := "is more than any node has" if {
	q.nano > max_cpu * 1000000000
}

sizes := {"memory", "ephemeral-storage"}

max_cpu := data.parameters["resources/quantity-slip"].max_cpu

# What almost every quantity looks like; a name without a pattern, or one that does not fit, is parsed.
usual := {
	"cpu": `^(?:[1-9][0-9]{0,2}m|[1-9])$`,
	"memory": `^[1-9][0-9]{0,5}[MGT]i$`,
	"nvidia.com/gpu": `^[1-9][0-9]?$`,
}
