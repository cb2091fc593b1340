package reader

import (
	"slices"

	"fleetaudit.dev/native/internal/tree"
)

// A pod specification of the wrong shape has nothing that rules could fail: they would pass it unseen. Its faults are told,
// so that a pass of such an object counts for nothing.

// fault is a place that holds something else than a pod specification has there.
type fault struct {
	path            []any
	expected, found string
}

const maxFaults = 20

// shape is what the API server takes at a field of a pod: fields that rules look into, and what they hold. A field that
// is absent or null has no fault, but for lists of main containers.
type shape struct {
	expected string
	fields   map[string]*shape // of a mapping
	items    *shape            // of a list
}

const (
	aMapping = "a mapping"
	aList    = "a list"
	aText    = "a text"
	nothing  = "nothing that is merged into the pod"
)

var (
	anyMapping = &shape{expected: aMapping}
	anyList    = &shape{expected: aList}
	anyText    = &shape{expected: aText}
	unread     = &shape{expected: nothing} // a patch that a controller merges into the pod: rules can't see its outcome
	mappings   = listOf(anyMapping)
	profiles   = map[string]*shape{
		"seccompProfile": anyMapping, "appArmorProfile": anyMapping, "seLinuxOptions": anyMapping, "windowsOptions": anyMapping,
	}
	podSecurity       = mapping(profiles, map[string]*shape{"sysctls": mappings, "supplementalGroups": anyList})
	containerSecurity = mapping(profiles, map[string]*shape{
		"capabilities": mapping(map[string]*shape{"add": anyList, "drop": anyList}),
	})
	container = mapping(map[string]*shape{
		"name": anyText, "image": anyText, "command": anyList, "args": anyList,
		"env": listOf(mapping(map[string]*shape{"valueFrom": anyMapping})), "envFrom": mappings, "ports": mappings,
		"volumeMounts": mappings, "volumeDevices": mappings, "securityContext": containerSecurity,
		"resources":     mapping(map[string]*shape{"limits": anyMapping, "requests": anyMapping, "claims": mappings}),
		"livenessProbe": anyMapping, "readinessProbe": anyMapping, "startupProbe": anyMapping, "lifecycle": anyMapping,
	})
	containers = listOf(container)
	metadata   = mapping(map[string]*shape{"labels": anyMapping, "annotations": anyMapping})
	podFields  = map[string]*shape{
		"containers": containers, "initContainers": containers, "ephemeralContainers": containers, "volumes": mappings,
		"securityContext": podSecurity, "imagePullSecrets": mappings, "tolerations": mappings, "topologySpreadConstraints": mappings,
		"resourceClaims": mappings, "affinity": anyMapping, "nodeSelector": anyMapping, "resources": anyMapping, "os": anyMapping,
	}
	podSpec     = mapping(podFields)
	podTemplate = mapping(map[string]*shape{"metadata": metadata, "spec": podSpec})
	argo        = mapping(podFields, map[string]*shape{
		"podSpecPatch": unread, "metadata": metadata, "container": container, "script": container, "sidecars": containers,
		"containerSet": mapping(map[string]*shape{"containers": containers}),
	})
)

func listOf(items *shape) *shape { return &shape{expected: aList, items: items} }

func mapping(fields ...map[string]*shape) *shape {
	made := &shape{expected: aMapping, fields: map[string]*shape{}}
	for _, some := range fields {
		for name, field := range some {
			made.fields[name] = field
		}
	}
	return made
}

// faultsIn holds an object against the table. Kinds of Kubernetes itself always have their pod template; others may
// take it from elsewhere.
func faultsIn(object *tree.Value, group string, table []Place) []fault {
	c := check{required: builtinGroups[group]}
	for _, place := range table {
		c.along(object, nil, place.Path, place)
		for _, path := range place.Inherits {
			c.inherited(object, path)
		}
	}
	return c.faults
}

type check struct {
	required bool
	faults   []fault
}

func (c *check) fault(path []any, expected string, v *tree.Value) {
	same := func(f fault) bool { return slices.Equal(f.path, path) }
	if len(c.faults) < maxFaults && !slices.ContainsFunc(c.faults, same) {
		c.faults = append(c.faults, fault{path, expected, nameOf(v)})
	}
}

// along walks to where the pods stand, and looks at each.
func (c *check) along(v *tree.Value, path []any, rest []string, place Place) {
	switch {
	case isAbsent(v):
		// Without its first field an object says nothing at all, whoever else could fill it.
		if c.required || len(path) == 1 {
			c.fault(path, aMapping, v)
		}
	case len(rest) == 0:
		c.pod(v, path, place)
	case rest[0] == "*" && v.Kind == tree.Array:
		for i := range v.Items {
			c.along(&v.Items[i], extend(path, i), rest[1:], place)
		}
	case rest[0] == "*" && v.Kind == tree.Object:
		for i := range v.Members {
			c.along(&v.Members[i].Value, extend(path, v.Members[i].Key), rest[1:], place)
		}
	case rest[0] == "*":
		c.fault(path, aList, v)
	case v.Kind != tree.Object:
		c.fault(path, aMapping, v)
	default:
		c.along(v.Get(rest[0]), extend(path, rest[0]), rest[1:], place)
	}
}

// inherited looks at what a template takes from further up: only a patch there goes unseen, all else is judged in the template.
func (c *check) inherited(v *tree.Value, names []string) {
	var path []any
	for _, name := range append(slices.Clone(names), "podSpecPatch") {
		if isAbsent(v) || v.Kind != tree.Object {
			return
		}
		v, path = v.Get(name), extend(path, name)
	}
	if !isAbsent(v) {
		c.against(v, path, unread)
	}
}

func (c *check) pod(v *tree.Value, path []any, place Place) {
	switch place.Holds {
	case "template":
		c.template(v, path)
	case "argo_template":
		c.against(v, path, argo)
	case "container":
		c.against(v, path, container)
	default:
		c.against(v, path, podSpec)
		for _, field := range place.Merged {
			if merged := v.Get(field); !isAbsent(merged) {
				c.against(merged, extend(path, field), container)
			}
		}
	}
}

// template is a whole pod: without containers nothing of it can run.
func (c *check) template(v *tree.Value, path []any) {
	if c.against(v, path, podTemplate); v.Kind != tree.Object {
		return
	}
	at := extend(path, "spec")
	spec := v.Get("spec")
	if isAbsent(spec) {
		c.fault(at, aMapping, spec)
		return
	}
	list := spec.Get("containers")
	if spec.Kind == tree.Object && (isAbsent(list) || list.Kind == tree.Array && len(list.Items) == 0) {
		c.fault(extend(at, "containers"), "a list of containers", list)
	}
}

// against compares a value with its shape, deeply.
func (c *check) against(v *tree.Value, path []any, want *shape) {
	switch want.expected {
	case aMapping:
		if v.Kind != tree.Object {
			c.fault(path, want.expected, v)
			return
		}
		for i := range v.Members {
			m := &v.Members[i]
			if field := want.fields[m.Key]; field != nil && m.Value.Kind != tree.Null {
				c.against(&m.Value, extend(path, m.Key), field)
			}
		}
	case aList:
		if v.Kind != tree.Array {
			c.fault(path, want.expected, v)
			return
		}
		for i := range v.Items {
			if want.items != nil {
				c.against(&v.Items[i], extend(path, i), want.items)
			}
		}
	case aText:
		if v.Kind != tree.String {
			c.fault(path, want.expected, v)
		}
	case nothing:
		if !isEmpty(v) {
			c.fault(path, want.expected, v)
		}
	}
}

// isEmpty says whether a patch changes nothing, for sure.
func isEmpty(v *tree.Value) bool {
	switch v.Kind {
	case tree.Null:
		return true
	case tree.String:
		return v.Text == ""
	case tree.Array:
		return len(v.Items) == 0
	case tree.Object:
		return len(v.Members) == 0
	default:
		return false
	}
}

func isAbsent(v *tree.Value) bool { return v == nil || v.Kind == tree.Null }

// nameOf says what a value is, never what is in it.
func nameOf(v *tree.Value) string {
	if isAbsent(v) {
		return "nothing"
	}
	switch v.Kind {
	case tree.Bool:
		return "true or false"
	case tree.Number:
		return "a number"
	case tree.String:
		return aText
	case tree.Array:
		if len(v.Items) == 0 {
			return "an empty list"
		}
		return aList
	default:
		return aMapping
	}
}
