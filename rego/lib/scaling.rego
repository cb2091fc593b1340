# METADATA
# title: How many replicas a workload has at least
# description: |
#   Reads spec.replicas, or what a HorizontalPodAutoscaler or KEDA ScaledObject in the inventory says of this object.
#   Rules that use it declare both kinds as context.
package lib.scaling

import data.lib.object as obj

# At least this many: of the autoscaler when there is one, else spec.replicas, else 1.
minimum := min(autoscaled) if {
	count(autoscaled) > 0
} else := declared

default declared := 1

declared := input.spec.replicas if is_number(input.spec.replicas)

# Lower bounds of the autoscalers of this object.
autoscaled := array.concat(
	[lower_bound(item, "minReplicas", 1) |
		some item in obj.in_namespace("autoscaling/HorizontalPodAutoscaler", obj.namespace)
		targets(obj.mapping(item, ["spec", "scaleTargetRef"]), input.kind)
	],
	[lower_bound(item, "minReplicaCount", 0) |
		some item in obj.in_namespace("keda.sh/ScaledObject", obj.namespace)
		targets(obj.mapping(item, ["spec", "scaleTargetRef"]), "Deployment")
	],
)

# Where the number of replicas stands, or should stand.
path := ["spec", "replicas"]

# A reference without a kind means the default one.
targets(reference, default_kind) if {
	reference.name == obj.name
	obj.get(reference, "kind", default_kind) == input.kind
}

lower_bound(item, field, fallback) := value if {
	value := item.spec[field]
	is_number(value)
} else := fallback
