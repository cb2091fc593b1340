# METADATA
# scope: package
# title: Accelerators that containers ask for
# description: |
#   Reads requests and limits of every container once per object. Names come from lib.device and from the parameter
#   more_devices of gpu/request-equals-limit, which every rule of the family reads.
package lib.gpu

import data.lib.device
import data.lib.object as obj
import data.lib.quantity
import data.lib.workload

# One entry per container and accelerator: {container, path (of resources), name, request, limit}; a value that is missing,
# null or empty is null.
claims := [claim |
	some named in extended
	is_device(named.name)
	claim := {
		"container": named.container,
		"path": named.path,
		"name": named.name,
		"request": value_of(named.requests, named.name),
		"limit": value_of(named.limits, named.name),
	}
	[claim.request, claim.limit] != [null, null]
]

# Every name with a domain in a container's resources: devices and what may be meant as one.
extended := [named |
	some container in workload.containers
	resources := container.value.resources
	some name in domained(resources)
	named := {
		"container": container,
		"path": array.concat(container.path, ["resources"]),
		"name": name,
		"requests": obj.mapping(resources, ["requests"]),
		"limits": obj.mapping(resources, ["limits"]),
	}
]

domained(resources) := {name |
	some list in ["requests", "limits"]
	some name, _ in resources[list]
	contains(name, "/")
}

value_of(list, name) := value if {
	value := object.get(list, name, null)
	not workload.empty[value]
} else := null

is_device(name) if device.is_accelerator(name)

is_device(name) if {
	some entry in data.parameters["gpu/request-equals-limit"].more_devices
	matches(name, entry)
}

# A trailing * stands for any rest.
matches(name, entry) if name == entry

matches(name, entry) if {
	endswith(entry, "*")
	startswith(name, trim_suffix(entry, "*"))
}

# What the container takes: the server copies the limit to a request that isn't there. In thousandths.
amount(claim) := milli(claim.limit) if claim.limit != null

amount(claim) := milli(claim.request) if claim.limit == null

# What is no quantity asks for something all the same.
milli(value) := number if {
	number := quantity.milli(value)
} else := 1000

# "slice" for a part of a device, "share" for a turn on one, "device" for a whole one.
kind_of(name) := "share" if {
	endswith(name, ".shared")
} else := "slice" if {
	startswith(name, "nvidia.com/mig-")
} else := "device"

# Per template, what one pod takes, by kind_of: the larger of its highest plain init container and the sum of its main
# containers and sidecars.
needs := [{kind: need(index, kind) | some kind in ["device", "slice", "share"]} | some index, _ in workload.templates]

need(index, kind) := max([sum(running), max(array.concat([0], starting))]) / 1000 if {
	mine := [claim | some claim in claims; claim.container.template == index; kind_of(claim.name) == kind]
	running := [amount(claim) | some claim in mine; claim.container.type in {"container", "sidecar"}]
	starting := [amount(claim) | some claim in mine; claim.container.type == "init"]
}

# Templates whose pods take any accelerator: {index, template, names}.
asking := [{"index": index, "template": template, "names": names} |
	count(claims) > 0
	some index, template in workload.templates
	names := {claim.name | some claim in claims; claim.container.template == index; amount(claim) > 0}
	count(names) > 0
]

# The finding for one container.
violation(claim, path, rest) := object.union(
	{"path": array.concat(claim.path, path), "container": claim.container.name},
	rest,
)
