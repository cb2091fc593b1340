# METADATA
# title: The request that an API server would have sent
# description: |
#   A synthetic CREATE by nobody. A server fills in the namespace of an object before it asks; where the manifest leaves
#   it unset, `default` is assumed.
package fleetaudit_foreign.admission

import data.fleetaudit_foreign.objects

review := {
	"apiVersion": "admission.k8s.io/v1",
	"kind": "AdmissionReview",
	"request": request,
}

request := {
	"uid": "00000000-0000-0000-0000-000000000000",
	"kind": objects.gvk,
	"resource": resource,
	"requestKind": objects.gvk,
	"requestResource": resource,
	"name": objects.name,
	"namespace": objects.namespace,
	"operation": "CREATE",
	"userInfo": {"username": "", "uid": "", "groups": []},
	"object": objects.completed,
	"oldObject": null,
	"dryRun": false,
	"options": {"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"},
}

resource := {"group": objects.gvk.group, "version": objects.gvk.version, "resource": objects.plural}
