package resources.namespace_limit_range_test

import data.lib.testing
import data.resources.namespace_limit_range

namespace(name) := {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}

ranges(limits) := {"LimitRange": {"team": [{"metadata": {"name": "l", "namespace": "team"}, "spec": {"limits": limits}}]}}

good := ranges([{"type": "Pod"}, {"type": "Container", "default": {"memory": "1Gi"}}])

test_passes if {
	namespace_limit_range.applies with input as namespace("team") with data.inventory as good
	namespace_limit_range.violations == set() with input as namespace("team") with data.inventory as good
	namespace_limit_range.violations == set() with input as namespace("team") with data.inventory as ranges([{"type": "Container", "max": {"memory": "1Gi"}}])
}

test_fails if {
	every inventory in [
		{}, {"LimitRange": {}}, {"LimitRange": {"other": good.LimitRange.team}}, ranges([]), ranges([{"type": "Container"}]),
		ranges([{"type": "PersistentVolumeClaim", "max": {"memory": "1Gi"}}]), ranges([{"type": "Container", "default": {"cpu": 1}}]),
		ranges([{"type": "Container", "default": {"memory": "0"}}]), ranges([{"type": "Container", "max": {"memory": 0}}]),
		ranges([{"type": "Container", "default": {"memory": "lots"}}]),
	] {
		namespace_limit_range.applies with input as namespace("team") with data.inventory as inventory
		count(namespace_limit_range.violations) == 1 with input as namespace("team") with data.inventory as inventory
	}
}

test_control_plane_is_not_asked if {
	namespace_limit_range.applies == false with input as namespace("kube-system")
}

test_dropped_fields if {
	path := ["LimitRange", "team", 0]
	limit := array.concat(path, ["spec", "limits", 1])
	every inventory in testing.dropped(good, [
		path,
		array.concat(path, ["spec"]),
		array.concat(path, ["spec", "limits"]),
		limit,
		array.concat(limit, ["type"]),
		array.concat(limit, ["default"]),
		array.concat(limit, ["default", "memory"]),
	]) {
		count(namespace_limit_range.violations) == 1 with input as namespace("team") with data.inventory as inventory
	}
	every subject in testing.dropped(namespace("team"), [["metadata"], ["metadata", "name"]]) {
		count(namespace_limit_range.violations) == 1 with input as subject with data.inventory as good
	}
}
