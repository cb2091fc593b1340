package serviceaccount.exists_test

import data.lib.testing
import data.serviceaccount.exists

accounts := {"ServiceAccount": {"ml": [{"metadata": {"name": "s", "namespace": "ml"}}]}}

test_passes if {
	every spec in [{"serviceAccountName": "s"}, {"serviceAccount": "s"}] {
		exists.applies with input as testing.pod(spec) with data.inventory as accounts
		exists.violations == set() with input as testing.pod(spec) with data.inventory as accounts
	}
}

test_fails if {
	every inventory in [{}, {"ServiceAccount": {}}, {"ServiceAccount": {"other": accounts.ServiceAccount.ml}}] {
		violations := exists.violations with input as testing.cron_job({"serviceAccountName": "s"}) with data.inventory as inventory
		testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.serviceAccountName"}
	}
}

test_a_model_server_too if {
	count(exists.violations) == 1 with input as testing.inference_service({"serviceAccountName": "x", "model": {}}) with data.inventory as accounts
}

test_objects_without_namespace_are_in_default if {
	subject := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"serviceAccountName": "s"}}
	every ns in ["", "default"] {
		exists.violations == set() with input as subject with data.inventory as {"ServiceAccount": {ns: accounts.ServiceAccount.ml}}
	}
}

test_default_is_not_looked_for if {
	exists.applies == false with input as testing.pod({"serviceAccountName": "default"}) with data.inventory as {}
}

test_dropped_fields if {
	every variant in testing.dropped(testing.pod({"serviceAccountName": "s"}), [["spec", "serviceAccountName"]]) {
		exists.applies == false with input as variant with data.inventory as accounts
	}
	every variant in testing.dropped(testing.pod({"serviceAccountName": "s"}), [["metadata"], ["metadata", "namespace"]]) {
		count(exists.violations) == 1 with input as variant with data.inventory as accounts
	}
	every inventory in testing.dropped(accounts, [["ServiceAccount", "ml", 0, "metadata"], ["ServiceAccount", "ml", 0, "metadata", "name"]]) {
		count(exists.violations) == 1 with input as testing.pod({"serviceAccountName": "s"}) with data.inventory as inventory
	}
}

test_no_pod_no_question if {
	exists.applies == false with input as testing.config_map
	exists.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
