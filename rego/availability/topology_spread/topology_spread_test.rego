package availability.topology_spread_test

import data.availability.topology_spread
import data.lib.testing

workload(kind, replicas) := {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "d", "namespace": "ml"}, "spec": {"replicas": replicas, "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "a"}]}}}}

hpa(minimum) := {"autoscaling/HorizontalPodAutoscaler": {"ml": [{"metadata": {"name": "h", "namespace": "ml"}, "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "minReplicas": minimum}}]}}

keda(minimum) := {"keda.sh/ScaledObject": {"ml": [{"metadata": {"name": "k", "namespace": "ml"}, "spec": {"scaleTargetRef": {"name": "d"}, "minReplicaCount": minimum}}]}}

spread_by(spec) := object.union(workload("Deployment", 2), {"spec": {"template": {"spec": spec}}})

term := {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "d"}}}

constraint := {"topologySpreadConstraints": [object.union({"maxSkew": 1}, term)]}

apart(strength, terms) := {"affinity": {"podAntiAffinity": {strength: terms}}}

test_passes if {
	every spec in [
		constraint,
		{"topologySpreadConstraints": [{"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {}}]},
		apart("requiredDuringSchedulingIgnoredDuringExecution", [term]),
		apart("preferredDuringSchedulingIgnoredDuringExecution", [{"weight": 1, "podAffinityTerm": term}]),
	] {
		topology_spread.applies with input as spread_by(spec) with data.inventory as {}
		topology_spread.violations == set() with input as spread_by(spec) with data.inventory as {}
	}
}

test_fails if {
	every spec in [
		{},
		{"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}},
		{"topologySpreadConstraints": "x"},
		{"topologySpreadConstraints": [null]},
		{"topologySpreadConstraints": [{}]},
		{"topologySpreadConstraints": [{"topologyKey": "kubernetes.io/hostname"}]},
		{"topologySpreadConstraints": [object.union(term, {"labelSelector": null})]},
		{"topologySpreadConstraints": [object.union(term, {"topologyKey": "kubernetes.io/os"})]},
		{"topologySpreadConstraints": [object.union(term, {"labelSelector": {"matchLabels": {"app": "other"}}})]},
		{"topologySpreadConstraints": [{"labelSelector": {"matchLabels": {"app": "d"}}}]},
		apart("requiredDuringSchedulingIgnoredDuringExecution", [{}]),
		apart("preferredDuringSchedulingIgnoredDuringExecution", [term]),
	] {
		violations := topology_spread.violations with input as spread_by(spec) with data.inventory as {}
		testing.paths(violations) == {"spec.template.spec.topologySpreadConstraints"}
	}
}

test_one_replica_no_question if {
	topology_spread.applies == false with input as workload("Deployment", 1) with data.inventory as {}
	topology_spread.applies with input as workload("Deployment", 1) with data.inventory as hpa(2)
	topology_spread.applies == false with input as workload("Deployment", 5) with data.inventory as keda(1)
}

test_dropped_fields if {
	path := ["spec", "template", "spec"]
	every subject in testing.dropped(spread_by(constraint), [path, array.concat(path, ["topologySpreadConstraints"])]) {
		count(topology_spread.violations) == 1 with input as subject with data.inventory as {}
	}
	affinity := apart("requiredDuringSchedulingIgnoredDuringExecution", [term])
	every subject in testing.dropped(spread_by(affinity), [
		array.concat(path, ["affinity"]),
		array.concat(path, ["affinity", "podAntiAffinity"]),
		array.concat(path, ["affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"]),
	]) {
		count(topology_spread.violations) == 1 with input as subject with data.inventory as {}
	}
}
