package secret.literal_in_configmap_test

import data.lib.testing
import data.secret.literal_in_configmap

marker := "fleetaudit:redacted:config_value:9-32"

config(data_) := {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ml"}, "data": data_}

test_fails if {
	violations := literal_in_configmap.violations with input as config({"url": marker, "settings.ini": concat("", ["api_key = ", marker]), "plain": "x"})
	{v.path | some v in violations} == {["data", "url"], ["data", "settings.ini"]}
	{v.seen | some v in violations} == {marker}
	{v.message | some v in violations; v.path[1] == "url"} == {"key url holds a literal secret (config_value)"}
}

test_binary_data if {
	count(literal_in_configmap.violations) == 1 with input as {"kind": "ConfigMap", "binaryData": {"key": marker}}
}

test_passes if {
	literal_in_configmap.applies with input as testing.config_map
	literal_in_configmap.violations == set() with input as testing.config_map
}

test_without_data_no_question if {
	every variant in testing.dropped(testing.config_map, [["data"]]) {
		literal_in_configmap.applies == false with input as variant
		literal_in_configmap.violations == set() with input as variant
	}
}

test_dropped_values if {
	every variant in testing.dropped(config({"key": marker, "other": "x"}), [["data", "key"]]) {
		literal_in_configmap.applies with input as variant
		literal_in_configmap.violations == set() with input as variant
	}
}
