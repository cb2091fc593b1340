# METADATA
# scope: package
# title: Quantities mean what was meant
# description: |
#   Finds quantities that are none (1GB, 1gi, 1e, an empty text), have no digits (Gi is read as 0), or are almost surely
#   a slip of the unit: memory, storage or huge pages under 1Mi (3500m is three and a half bytes), CPU under a thousandth
#   of a core, or more CPU than the parameter allows a container (500 where 500m was meant). Looks at requests and limits
#   of containers and pods, sizes of emptyDir and ephemeral volumes, claims and their templates, quotas and limit ranges.
#   Values are compared exactly: 1288490188800m is 1.2Gi and no slip. Zero, and null, which is read as 0, are left alone.
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
#   - ref: https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/
# custom:
#   severity: high
#   match:
#     pod_templates: true
#     kinds: [{group: "", kinds: [PersistentVolumeClaim, PersistentVolume, ResourceQuota, LimitRange]}]
#   not_applicable: no_quantity_stated
#   remediation: >-
#     Write memory with Mi or Gi and CPU with m or as cores.
#   fix: |
#     resources:
#       requests:
#         cpu: 500m
#         memory: 512Mi
package resources.quantity_slip

import data.lib.object as obj
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

applies if {
	some place in places
	count(place.values) > 0
}

violations contains v if {
	some c in workload.containers
	some kind in kinds
	some name, value in c.value.resources[kind]
	not is_usual(name, value)
	problem := of_pod(name, value)
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
	problem := of_pod(name, value)
	v := {
		"path": array.concat(workload.field_path(t, "resources"), [kind, name]),
		"message": sprintf("the pod: %s %v %s", [name, value, problem]),
		"seen": value,
		"expected": "a quantity with its unit",
	}
}

violations contains v if {
	some place in places
	some name, value in place.values
	problem := slip(name, value)
	v := {
		"path": array.concat(place.path, [name]),
		"message": sprintf("%s %s: %s %v %s", [place.kind, place.name, name, value, problem]),
		"seen": value,
		"expected": "a quantity with its unit",
	}
}

kinds := ["requests", "limits"]

# ---- quantities outside of containers: {"path", "kind", "name", "values"}, kind and name those of what holds them

places := array.concat(volume_places, own_places)

volume_places := array.concat(
	[place |
		some volume in workload.volumes
		limit := volume.value.emptyDir.sizeLimit
		path := array.concat(volume.path, ["emptyDir"])
		place := {"path": path, "kind": "volume", "name": volume.name, "values": {"sizeLimit": limit}}
	],
	[place |
		some volume in workload.volumes
		template := volume.value.ephemeral.volumeClaimTemplate
		path := array.concat(volume.path, ["ephemeral", "volumeClaimTemplate"])
		some place in claim(template, path, "volume", volume.name)
	],
)

own_places := claim(input, [], "claim", obj.name) if {
	input.kind == "PersistentVolumeClaim"
} else := [{"path": ["spec", "capacity"], "kind": "volume", "name": obj.name, "values": obj.mapping(input, ["spec", "capacity"])}] if {
	input.kind == "PersistentVolume"
} else := [{"path": ["spec", "hard"], "kind": "quota", "name": obj.name, "values": obj.mapping(input, ["spec", "hard"])}] if {
	input.kind == "ResourceQuota"
} else := [place |
	some index, limit in obj.list(input, ["spec", "limits"])
	some field in ["max", "min", "default", "defaultRequest"]
	place := {
		"path": ["spec", "limits", index, field],
		"kind": field,
		"name": obj.text(limit, ["type"]),
		"values": obj.mapping(limit, [field]),
	}
] if {
	input.kind == "LimitRange"
} else := [place |
	some index, template in obj.list(input, ["spec", "volumeClaimTemplates"])
	some place in claim(template, ["spec", "volumeClaimTemplates", index], "claim", obj.text(template, ["metadata", "name"]))
] if {
	input.kind == "StatefulSet"
} else := []

claim(value, path, kind, name) := [place |
	some list in kinds
	values := obj.mapping(value, ["spec", "resources", list])
	count(values) > 0
	place := {"path": array.concat(path, ["spec", "resources", list]), "kind": kind, "name": name, "values": values}
]

# ---- what is wrong with one

# Null is read as 0.
slip(name, value) := problem if {
	value != null
	problem := of_quantity(bare(name), quantity.parse(value))
}

of_pod(name, value) := "is more than any node has" if {
	name == "cpu"
	quantity.parse(value).nano > max_cpu * 1000000000
} else := slip(name, value)

of_quantity(_, q) := "is not a quantity" if {
	not q.valid
} else := "has no digits and is read as 0" if {
	not q.digits
} else := "is negative" if {
	q.nano < 0
}

of_quantity(name, q) := "is under 1Mi" if {
	is_size(name)
	q.nano > 0
	q.nano < 1048576000000000
}

of_quantity("cpu", q) := "is under a thousandth of a core" if {
	q.nano > 0
	q.nano < 1000000
}

# A quota says whether it counts requests or limits, and of which storage class.
bare(name) := parts[count(parts) - 1] if {
	parts := regex.split(`(^|/)(requests|limits)\.`, name)
}

is_size(name) if name in {"memory", "ephemeral-storage", "storage", "sizeLimit"}

is_size(name) if startswith(name, "hugepages-")

max_cpu := data.parameters["resources/quantity-slip"].max_cpu

# What almost every quantity looks like; a name without a pattern, or one that does not fit, is parsed.
is_usual(name, value) if {
	is_string(value)
	regex.match(usual[name], value)
}

usual := {
	"cpu": `^(?:[1-9][0-9]{0,2}m|[1-9])$`,
	"memory": `^[1-9][0-9]{0,5}[MGT]i$`,
	"nvidia.com/gpu": `^[1-9][0-9]?$`,
}
