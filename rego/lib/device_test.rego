package lib.device_test

import data.lib.device

test_names if {
	every name in ["nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb", "amd.com/gpu", "google.com/tpu", "huawei.com/Ascend310"] {
		device.is_accelerator(name)
	}
	every name in ["cpu", "memory", "example.com/gpu", "nvidia.com/gpux", "rdma/hca", "", null, 5] {
		device.is_accelerator(name) == false
	}
}

test_of_a_list if {
	device.accelerators({"cpu": 1, "nvidia.com/gpu": 1}) == ["nvidia.com/gpu"]
	device.accelerators({}) == []
}
