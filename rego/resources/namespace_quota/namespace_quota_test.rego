package resources.namespace_quota_test

import data.lib.testing
import data.resources.namespace_quota

namespace(name) := {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}

quota(spec) := {"ResourceQuota": {"team": [{"metadata": {"name": "q", "namespace": "team"}, "spec": spec}]}}

good := quota({"hard": {"requests.cpu": "4", "limits.memory": "8Gi"}})

test_passes if {
	namespace_quota.applies with input as namespace("team") with data.inventory as good
	namespace_quota.violations == set() with input as namespace("team") with data.inventory as good
}

test_fails_without_a_quota if {
	every inventory in [{}, {"ResourceQuota": {}}, {"ResourceQuota": {"other": good.ResourceQuota.team}}, quota({"hard": {"pods": "5"}}), quota({})] {
		namespace_quota.applies with input as namespace("team") with data.inventory as inventory
		count(namespace_quota.violations) == 2 with input as namespace("team") with data.inventory as inventory
	}
}

test_half_a_quota if {
	inventory := quota({"hard": {"cpu": 4}})
	violations := namespace_quota.violations with input as namespace("team") with data.inventory as inventory
	{v.message | some v in violations} == {"no quota bounds memory in namespace team"}
}

test_only_quantities_bound if {
	every value in ["lots", "1GB", "Gi", "-1", true, [1]] {
		inventory := quota({"hard": {"cpu": value, "memory": value}})
		count(namespace_quota.violations) == 2 with input as namespace("team") with data.inventory as inventory
	}
	every value in ["0", 0, "64", 1.5] {
		inventory := quota({"hard": {"requests.cpu": value, "requests.memory": value}})
		namespace_quota.violations == set() with input as namespace("team") with data.inventory as inventory
	}
}

test_scoped_quotas_do_not_count if {
	every scope in [{"scopes": ["BestEffort"]}, {"scopeSelector": {"matchExpressions": []}}] {
		inventory := quota(object.union({"hard": {"cpu": 4, "memory": "8Gi"}}, scope))
		count(namespace_quota.violations) == 2 with input as namespace("team") with data.inventory as inventory
	}
}

test_objects_without_namespace_are_in_default if {
	inventory := {"ResourceQuota": {"": good.ResourceQuota.team}}
	namespace_quota.violations == set() with input as namespace("default") with data.inventory as inventory
}

test_control_plane_is_not_asked if {
	namespace_quota.applies == false with input as namespace("kube-system")
	namespace_quota.applies with input as namespace("kube-system") with data.parameters as {"resources/namespace-quota": {"exempt_namespaces": []}}
}

test_dropped_fields if {
	path := ["ResourceQuota", "team", 0]
	every inventory in testing.dropped(good, [
		path,
		array.concat(path, ["spec"]),
		array.concat(path, ["spec", "hard"]),
	]) {
		count(namespace_quota.violations) == 2 with input as namespace("team") with data.inventory as inventory
	}
	every inventory in testing.dropped(good, [array.concat(path, ["spec", "hard", "requests.cpu"])]) {
		count(namespace_quota.violations) == 1 with input as namespace("team") with data.inventory as inventory
	}
	every subject in testing.dropped(namespace("team"), [["metadata"], ["metadata", "name"]]) {
		namespace_quota.applies with input as subject with data.inventory as good
		count(namespace_quota.violations) == 2 with input as subject with data.inventory as good
	}
}
