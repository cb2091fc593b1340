# METADATA
# scope: package
# title: Only plain volume types are used
# description: |
#   Inline volumes of storage systems carry addresses and credentials past the cluster's storage classes; gitRepo
#   and hostPath reach the node. A claim or CSI volume does the same job under control.
#   Pod Security Standards, restricted level, control "Volume Types", as enforced by Kubernetes 1.37. A volume
#   without a source is an emptyDir, as on the server.
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/
# custom:
#   severity: medium
#   match: {pod_templates: true}
#   not_applicable: no_pod_template
#   remediation: >-
#     Use a persistentVolumeClaim, csi or ephemeral volume instead of the inline type.
#   fix: |
#     volumes:
#       - name: data
#         persistentVolumeClaim:
#           claimName: data
package pod.volume_types

import data.lib.workload

default applies := false

applies if count(workload.templates) > 0

violations contains v if {
	some volume in workload.volumes
	not plain(volume.value)
	some kind, source in volume.value
	kind != "name"
	source != null
	v := {
		"path": array.concat(volume.path, [kind]),
		"message": sprintf("volume %s is of type %s", [volume.name, kind]),
		"seen": kind,
		"expected": "a claim or another plain volume type",
	}
}

plain(volume) if volume.configMap != null

plain(volume) if volume.emptyDir != null

plain(volume) if volume.persistentVolumeClaim != null

plain(volume) if volume.secret != null

plain(volume) if volume.projected != null

plain(volume) if volume.csi != null

plain(volume) if volume.downwardAPI != null

plain(volume) if volume.ephemeral != null

plain(volume) if volume.image != null
