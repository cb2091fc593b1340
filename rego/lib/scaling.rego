# METADATA
# title: How many replicas a workload has at least
# description: |
#   Reads spec.replicas, or what a HorizontalPodAutoscaler or KEDA ScaledObject in the inventory says of this object.
#   Rules that use it declare both kinds as context.
package lib.scaling

import data.lib.object as obj

# At least this many: of the autoscaler when there is one, else spec.replicas, else 1.
minimum := min(autoscaled) if {
	autoscaled != []
} else := declared

default declared := 1

declared := input.spec.replicas if is_number(input.spec.replicas)

# Lower bounds of the autoscalers of this object. A reference without a kind means the default one.
autoscaled := array.concat(
	[lower_bound(object.get(item.spec, "minReplicas", null), 1) |
		some item in targeting("autoscaling/HorizontalPodAutoscaler")
		item.spec.scaleTargetRef.kind == input.kind
	],
	[lower_bound(object.get(item.spec, "minReplicaCount", null), 0) |
		some item in targeting("keda.sh/ScaledObject")
		obj.get(item.spec.scaleTargetRef, "kind", "Deployment") == input.kind
	],
)

targeting(kind_key) := [item |
	some ns in obj.namespaces
	some item in data.inventory[kind_key][ns]
	item.spec.scaleTargetRef.name == obj.name
]

# Where the number of replicas stands, or should stand.
path := ["spec", "replicas"]

lower_bound(value, fallback) := value if {
	is_number(value)
} else := fallback
