package lib.gpu_test

import data.lib.gpu

container(name, resource, number) := {"name": name, "resources": {"limits": {resource: number}}}

pod(init, main) := {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"initContainers": init, "containers": main}}

needs(object) := found if {
	found := gpu.needs[0] with input as object
}

test_sum_of_main_containers if {
	needs(pod([], [container("a", "nvidia.com/gpu", 1), container("b", "nvidia.com/gpu", "2000m")])).device == 3
}

test_highest_init_container_counts_when_larger if {
	sidecar := object.union(container("side", "nvidia.com/gpu", 1), {"restartPolicy": "Always"})
	needs(pod([container("warm", "nvidia.com/gpu", 4), sidecar], [container("c", "nvidia.com/gpu", 2)])).device == 4
	needs(pod([container("warm", "nvidia.com/gpu", 2), sidecar], [container("c", "nvidia.com/gpu", 2)])).device == 3
}

test_slices_and_shares_are_counted_apart if {
	object := pod([], [container("a", "nvidia.com/mig-3g.40gb", 2), container("b", "nvidia.com/gpu.shared", 1)])
	needs(object) == {"device": 0, "slice": 2, "share": 1}
}

test_zero_is_not_asking if {
	gpu.asking == [] with input as pod([], [container("c", "nvidia.com/gpu", 0)])
}

test_request_counts_where_no_limit_is if {
	object := {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"resources": {"requests": {"amd.com/gpu": 2}}}]}}
	needs(object).device == 2
}

test_what_is_no_quantity_is_asking if {
	every value in ["lots", "one", true, [1], {"a": 1}] {
		count(gpu.asking) == 1 with input as pod([], [container("c", "nvidia.com/gpu", value)])
	}
	every value in [null, "", [], {}] {
		gpu.asking == [] with input as pod([], [container("c", "nvidia.com/gpu", value)])
	}
}
