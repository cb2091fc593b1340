package serviceaccount.token_automount_test

import data.lib.testing
import data.serviceaccount.token_automount

good := {"automountServiceAccountToken": false, "serviceAccountName": "s", "containers": [{"name": "a"}]}

accounts(value) := {"ServiceAccount": {"ml": [{"metadata": {"name": "s", "namespace": "ml"}, "automountServiceAccountToken": value}]}}

test_passes if {
	token_automount.applies with input as testing.pod(good) with data.inventory as {}
	token_automount.violations == set() with input as testing.pod(good) with data.inventory as accounts(true)
}

test_explicit_true_in_a_cron_job if {
	violations := token_automount.violations with input as testing.cron_job({"automountServiceAccountToken": true}) with data.inventory as accounts(false)
	testing.paths(violations) == {"spec.jobTemplate.spec.template.spec.automountServiceAccountToken"}
	{v.message | some v in violations} == {"the pod mounts a token of the Kubernetes API"}
}

test_dropped_fields if {
	every variant in testing.dropped(testing.pod(good), [["spec", "automountServiceAccountToken"]]) {
		count(token_automount.violations) == 1 with input as variant with data.inventory as {}
		token_automount.violations == set() with input as variant with data.inventory as accounts(false)
		every value in [true, null, "", "false"] {
			count(token_automount.violations) == 1 with input as variant with data.inventory as accounts(value)
		}
	}

	# Without its name the pod runs as the account "default", which is not read here.
	every variant in testing.dropped(testing.pod({"serviceAccountName": "s"}), [["spec", "serviceAccountName"], ["metadata"], ["metadata", "namespace"]]) {
		count(token_automount.violations) == 1 with input as variant with data.inventory as accounts(false)
	}
	every value in ["false", 0, []] {
		changed := testing.pod({"automountServiceAccountToken": value})
		count(token_automount.violations) == 1 with input as changed with data.inventory as {}
	}
}

test_both_groups_of_a_ray_cluster if {
	count(token_automount.violations) == 2 with input as testing.ray_cluster({"containers": []}, {"containers": []}) with data.inventory as {}
}

test_where_the_account_is_set_elsewhere_it_is_not_asked if {
	token_automount.applies == false with input as {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "ServingRuntime", "spec": {"containers": [{"name": "a"}]}}
	token_automount.applies == false with input as {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "LLMInferenceService", "spec": {"template": {"containers": []}}}
}

test_no_pod_no_question if {
	token_automount.applies == false with input as testing.config_map
	token_automount.applies == false with input as {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {}}
}
