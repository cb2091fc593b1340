# METADATA
# title: Accelerator resources
# description: Which extended resource names stand for GPUs and other accelerators.
package lib.device

# Any vendor's accelerator: nvidia.com/gpu, nvidia.com/mig-1g.10gb, nvidia.com/gpu.shared, amd.com/gpu and so on.
is_accelerator(name) if {
	names[name]
} else if {
	some prefix in prefixes
	startswith(name, prefix)
} else := false

names := {
	"nvidia.com/gpu",
	"amd.com/gpu",
	"gpu.intel.com/i915",
	"gpu.intel.com/xe",
	"habana.ai/gaudi",
	"aws.amazon.com/neuron",
	"aws.amazon.com/neuroncore",
	"google.com/tpu",
	"huawei.com/Ascend910",
}

prefixes := ["nvidia.com/mig-", "nvidia.com/gpu.", "amd.com/cpx", "amd.com/spx", "huawei.com/Ascend", "aliyun.com/gpu"]

# Names of the accelerators in a resource list.
accelerators(resources) := [name | some name, _ in resources; is_accelerator(name)]
