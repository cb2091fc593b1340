# METADATA
# scope: package
# title: Autoscaling removes replicas slowly
# description: |
#   By default an autoscaler may remove every surplus replica within 15 seconds; model servers take minutes to come
#   back. Within any minute at most 20 % (parameter) may go: a policy is counted as often as its period fits into a
#   minute. A policy in pods is compared with that share of the minimum, but one pod a minute is always slow enough,
#   because a percentage rounds that far too. With selectPolicy Min one slow policy is enough, with Max (the
#   default) all must be slow; Disabled passes.
# related_resources:
#   - ref: https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#configurable-scaling-behavior
# custom:
#   severity: low
#   match: {kinds: [{group: autoscaling, kinds: [HorizontalPodAutoscaler]}, {group: keda.sh, kinds: [ScaledObject]}]}
#   not_applicable: always_asked
#   remediation: >-
#     State behavior.scaleDown.policies with one Percent policy of 20 per 60 seconds.
#   fix: |
#     behavior:
#       scaleDown:
#         policies:
#           - {type: Percent, value: 20, periodSeconds: 60}
package availability.hpa_scale_down_rate

import data.lib.object as obj

default applies := false

applies := true

violations contains v if {
	select != "Disabled"
	policies == []
	v := {
		"path": array.concat(place, ["policies"]),
		"message": "nothing slows down scaling down",
		"seen": null,
		"expected": expected,
	}
}

violations contains v if {
	select == "Min"
	policies != []
	count(slow_policies) == 0
	v := {
		"path": array.concat(place, ["policies"]),
		"message": "no policy is slow enough",
		"seen": policies,
		"expected": expected,
	}
}

violations contains v if {
	not select in ["Min", "Disabled"]
	some i, policy in policies
	not i in slow_policies
	v := {
		"path": array.concat(place, ["policies", i]),
		"message": "the policy lets more replicas go in a minute than allowed",
		"seen": policy,
		"expected": expected,
	}
}

place := ["spec", "advanced", "horizontalPodAutoscalerConfig", "behavior", "scaleDown"] if {
	input.kind == "ScaledObject"
} else := ["spec", "behavior", "scaleDown"]

scale_down := obj.mapping(input, place)

select := obj.get(scale_down, ["selectPolicy"], "Max")

policies := obj.list(scale_down, ["policies"])

# Indexes of the policies that keep to the rate.
slow_policies := [i |
	some i, policy in policies
	is_number(policy.value)
	is_number(policy.periodSeconds)
	policy.value * runs_per_minute(policy.periodSeconds) <= most[policy.type]
]

runs_per_minute(period) := max([1, ceil(60 / period)]) if period > 0

most := {
	"Percent": max_percent,
	"Pods": max([1, floor((max_percent * lower_bound) / 100)]),
}

max_percent := data.parameters["availability/hpa-scale-down-rate"].max_percent_per_minute

default lower_bound := 1

lower_bound := input.spec.minReplicas if is_number(input.spec.minReplicas)

lower_bound := input.spec.minReplicaCount if is_number(input.spec.minReplicaCount)

expected := sprintf("at most %v %% of the replicas a minute", [max_percent])
