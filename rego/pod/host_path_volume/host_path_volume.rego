# METADATA
# scope: package
# title: No volume mounts a path of the node
# description: |
#   A hostPath volume opens the file system of the node to the pod: credentials of the kubelet, sockets of the
#   runtime, other tenants' caches.
#   Pod Security Standards, baseline level, control "HostPath Volumes", as enforced by Kubernetes 1.37.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#hostpath
# custom:
#   severity: high
#   match: {pod_templates: true}
#   not_applicable: no_pod_template
#   remediation: >-
#     Use a persistent volume, an ephemeral volume or a local volume with a claim. Model caches belong in a claim;
#     node agents that truly need a path deserve a waiver of their own.
#   fix: |
#     volumes:
#       - name: cache
#         persistentVolumeClaim:
#           claimName: model-cache
package pod.host_path_volume

import data.lib.workload

default applies := false

applies if count(workload.templates) > 0

violations contains v if {
	some volume in workload.volumes
	source := volume.value.hostPath
	source != null
	v := {
		"path": array.concat(volume.path, ["hostPath"]),
		"message": sprintf("volume %s mounts a path of the node", [volume.name]),
		"seen": seen(source),
		"expected": null,
	}
}

seen(source) := source.path if {
	source.path
} else := source
