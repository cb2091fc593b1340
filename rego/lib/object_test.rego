package lib.object_test

import data.lib.object as obj

test_reading if {
	value := {"a": {"b": null, "c": 1, "d": [], "e": {}, "f": "x"}}
	obj.get(value, ["a", "c"], 0) == 1
	obj.get(value, ["a", "b"], 0) == 0
	obj.get(value, ["a", "x"], 0) == 0
	obj.get(value, ["x", "y"], 0) == 0
	obj.get(null, ["x"], 0) == 0
	obj.get("text", ["x"], 0) == 0
	obj.mapping(value, ["a", "c"]) == {}
	obj.list(value, ["a", "c"]) == []
	obj.text(value, ["a", "c"]) == ""
	obj.text(value, ["a", "f"]) == "x"
}

test_absent if {
	every value in [null, "", [], {}] {
		obj.absent(value)
	}
	every value in [0, false, " ", [null], {"a": null}] {
		obj.absent(value) == false
	}
}

test_metadata_of_nothing if {
	every value in [{}, {"metadata": null}, {"metadata": "x"}, {"metadata": {"name": 5, "namespace": null, "labels": []}}] {
		obj.name == "" with input as value
		obj.namespace == "" with input as value
		obj.labels == {} with input as value
		obj.annotations == {} with input as value
	}
}

labels := {"app": "a", "tier": "web"}

test_selectors_that_choose if {
	every selector in [
		{},
		{"matchLabels": {}},
		{"matchLabels": null, "matchExpressions": null},
		{"matchLabels": {"app": "a"}},
		{"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
		{"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["b"]}]},
		{"matchExpressions": [{"key": "none", "operator": "NotIn", "values": ["b"]}]},
		{"matchExpressions": [{"key": "app", "operator": "Exists"}]},
		{"matchExpressions": [{"key": "none", "operator": "DoesNotExist"}]},
		{"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]},
	] {
		obj.selects(selector, labels)
	}
}

test_selectors_that_do_not if {
	every selector in [
		null,
		"",
		[],
		{"matchLabels": {"app": "b"}},
		{"matchLabels": {"none": ""}},
		{"matchExpressions": [{"key": "app", "operator": "In", "values": ["b"]}]},
		{"matchExpressions": [{"key": "none", "operator": "In", "values": ["b"]}]},
		{"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]},
		{"matchExpressions": [{"key": "none", "operator": "Exists"}]},
		{"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]},
		{"matchExpressions": [{"key": "app"}]},
		{"matchExpressions": [{"operator": "Exists"}]},
		{"matchExpressions": [{"key": "app", "operator": "Gt", "values": ["1"]}]},
		{"matchExpressions": [{"key": "app", "operator": "In"}]},
		{"matchExpressions": [null]},
	] {
		obj.selects(selector, labels) == false
	}
}

inventory := {"ServiceAccount": {"": [1], "default": [2], "ml": [3]}, "Odd": {"ml": "text"}}

test_inventory if {
	obj.in_namespace("ServiceAccount", "ml") == [3] with data.inventory as inventory
	obj.in_namespace("ServiceAccount", "") == [1, 2] with data.inventory as inventory
	obj.in_namespace("ServiceAccount", "default") == [1, 2] with data.inventory as inventory
	obj.in_namespace("ServiceAccount", "other") == [] with data.inventory as inventory
	obj.in_namespace("Nothing", "ml") == [] with data.inventory as inventory
	obj.in_namespace("Odd", "ml") == [] with data.inventory as inventory
	obj.everywhere("ServiceAccount") == [1, 2, 3] with data.inventory as inventory
	obj.namespaces == ["", "default"] with input as {"metadata": {"namespace": "default"}}
	obj.namespaces == ["ml"] with input as {"metadata": {"namespace": "ml"}}
}
