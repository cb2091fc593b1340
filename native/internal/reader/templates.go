package reader

import (
	"slices"
	"strings"

	"fleetaudit.dev/native/internal/tree"
)

// Containers are found by their shape, so that one at a place that no table names is noticed instead of missed.

// Place is one entry of the pod template table: where the pods of a kind stand, and as what.
type Place struct {
	Path   []string `json:"path"`
	Holds  string   `json:"holds"`
	Merged []string `json:"merged"`
	// Inherits are the places that a workflow template takes pod fields from.
	Inherits [][]string `json:"inherits"`
}

// Groups whose objects hold patterns or schemas of pods, not pods.
var patternGroups = map[string]bool{
	"kyverno.io": true, "policies.kyverno.io": true, "cli.kyverno.io": true, "templates.gatekeeper.sh": true,
	"constraints.gatekeeper.sh": true, "mutations.gatekeeper.sh": true, "expansion.gatekeeper.sh": true, "test.gatekeeper.sh": true,
	"admissionregistration.k8s.io": true, "apiextensions.k8s.io": true,
}

// Kinds that keep what ran before, to go back to it; nothing runs because of them.
var keptForHistory = map[string]bool{"apps/ControllerRevision": true}

// Groups that the API server itself serves. What runs containers there is in the table, and unknown fields are dropped.
var builtinGroups = map[string]bool{
	"": true, "apps": true, "batch": true, "extensions": true, "autoscaling": true, "policy": true,
	"admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true,
	"authentication.k8s.io": true, "authorization.k8s.io": true, "certificates.k8s.io": true, "coordination.k8s.io": true,
	"discovery.k8s.io": true, "events.k8s.io": true, "flowcontrol.apiserver.k8s.io": true, "internal.apiserver.k8s.io": true,
	"metrics.k8s.io": true, "networking.k8s.io": true, "node.k8s.io": true, "rbac.authorization.k8s.io": true,
	"resource.k8s.io": true, "scheduling.k8s.io": true, "storage.k8s.io": true, "storagemigration.k8s.io": true,
}

// Lists and maps of these names hold containers. Those of a pod specification come first.
var (
	podLists       = []string{"containers", "initContainers", "ephemeralContainers"}
	containerLists = set("containers initContainers ephemeralContainers steps sidecars sidecarContainers initSteps")
	loneContainers = set("container script")
)

// What stands beside the image of something that runs, and not beside that of a policy. A name comes first: a catalogue
// of images has one too.
var runningFields = strings.Fields("name command args env envFrom envVars environment arguments script entrypoint resources computeResources " +
	"securityContext podSecurityContext ports volumeMounts imagePullPolicy workingDir livenessProbe readinessProbe replicas " +
	"serviceAccount serviceAccountName nodeSelector tolerations mainClass mainApplicationFile")

// unknownTemplates returns the places of containers that the table does not name: the pod template where one is
// there, else the list of containers or the container. Each is given once.
func unknownTemplates(object *tree.Value, group string, judged [][]string) [][]any {
	if patternGroups[group] {
		return nil
	}
	s := search{custom: !builtinGroups[group], judged: judged}
	if s.custom && looksRun(object, nil) {
		s.found(nil, nil)
	}
	for i := range object.Members {
		m := &object.Members[i]
		if s.custom && m.Key == "status" { // what a controller saw, not what anybody asks for
			continue
		}
		s.member(m, nil)
	}
	return s.unknown
}

func judgedContainers(table map[string][]Place) map[string][][]string {
	judged := make(map[string][][]string, len(table))
	for kind, places := range table {
		for _, place := range places {
			judged[kind] = append(judged[kind], place.containers()...)
		}
	}
	return judged
}

// containers are the patterns of the containers that rules see through this entry; "*" stands for any list index or key.
func (p Place) containers() [][]string {
	at := func(tail ...string) []string { return append(p.Path[:len(p.Path):len(p.Path)], tail...) }
	var patterns [][]string
	lists := func(tail ...string) {
		for _, list := range podLists {
			patterns = append(patterns, at(append(tail[:len(tail):len(tail)], list, "*")...))
		}
	}
	switch p.Holds {
	case "template":
		lists("spec")
	case "container":
		patterns = append(patterns, at())
	case "argo_template":
		lists()
		patterns = append(patterns, at("container"), at("script"), at("sidecars", "*"), at("containerSet", "containers", "*"))
	default:
		lists()
		for _, field := range p.Merged {
			patterns = append(patterns, at(field))
		}
	}
	return patterns
}

// maxUnknown is how many places of one object are told; one is enough to leave every rule about pods undecided.
const maxUnknown = 20

type search struct {
	custom  bool // containers in any shape are looked for, not only lists of a pod specification
	judged  [][]string
	unknown [][]any
}

// member looks at one field of a mapping that stands at path.
func (s *search) member(m *tree.Member, path []any) {
	if m.Value.Kind != tree.Object && m.Value.Kind != tree.Array {
		return
	}
	at := extend(path, m.Key)
	switch {
	case m.Value.Kind == tree.Array && (m.Key == "containers" || m.Key == "initContainers"):
		s.list(&m.Value, at, podTemplateOf(path), func(item *tree.Value) bool {
			return item.Get("image") != nil || hasAny(item, runningFields)
		})
	case s.custom && containerLists[m.Key]:
		s.list(&m.Value, at, at, hasImage)
	default:
		s.value(&m.Value, at)
	}
}

// list looks at what should be containers, a list or by name; they are told as one place.
func (s *search) list(v *tree.Value, at, place []any, isContainer func(*tree.Value) bool) {
	each := func(item *tree.Value, at []any) {
		if isContainer(item) {
			s.found(at, place)
			s.inside(item, at)
		} else {
			s.value(item, at)
		}
	}
	if s.custom && looksRun(v, at) {
		s.found(at, at)
	}
	for i := range v.Items {
		each(&v.Items[i], extend(at, i))
	}
	for i := range v.Members {
		each(&v.Members[i].Value, extend(at, v.Members[i].Key))
	}
}

func (s *search) value(v *tree.Value, path []any) {
	if s.custom && looksRun(v, path) {
		s.found(path, path)
	}
	s.inside(v, path)
}

func (s *search) inside(v *tree.Value, path []any) {
	for i := range v.Members {
		s.member(&v.Members[i], path)
	}
	for i := range v.Items {
		if item := &v.Items[i]; item.Kind == tree.Object || item.Kind == tree.Array {
			s.value(item, extend(path, i))
		}
	}
}

// found notes a container, unless rules see it. Several at one place are told once.
func (s *search) found(container, place []any) {
	for _, pattern := range s.judged {
		if fits(container, pattern) {
			return
		}
	}
	same := func(known []any) bool { return slices.Equal(known, place) }
	if len(s.unknown) < maxUnknown && !slices.ContainsFunc(s.unknown, same) {
		s.unknown = append(s.unknown, place)
	}
}

// podTemplateOf is what a table would name for lists of containers in the mapping at path.
func podTemplateOf(path []any) []any {
	if lastOf(path) == "spec" {
		return path[:len(path)-1]
	}
	return path
}

// looksRun says whether a mapping looks like a container: an image, and beside it what only something that runs has.
func looksRun(v *tree.Value, path []any) bool {
	if !hasImage(v) {
		return false
	}
	if name, _ := lastOf(path).(string); loneContainers[name] {
		return true
	}
	if isCatalogue(path) {
		return hasAny(v, runningFields[1:])
	}
	return hasAny(v, runningFields)
}

func hasAny(v *tree.Value, fields []string) bool {
	for _, field := range fields {
		if beside := v.Get(field); beside != nil && beside.Kind != tree.Null {
			return true
		}
	}
	return false
}

// isCatalogue says whether a path leads into a list of images, which name what others may run.
func isCatalogue(path []any) bool {
	if len(path) < 2 {
		return false
	}
	list, _ := path[len(path)-2].(string)
	return strings.HasSuffix(strings.ToLower(list), "images")
}

// hasImage says whether a mapping names an image, as a text or in the parts that charts and operators use.
func hasImage(v *tree.Value) bool {
	image := v.Get("image")
	if image.IsText() {
		return image.Text != ""
	}
	for _, part := range []string{"repository", "name", "registry"} {
		if named := image.Get(part); named.IsText() && named.Text != "" {
			return true
		}
	}
	return false
}

func fits(path []any, pattern []string) bool {
	if len(path) != len(pattern) {
		return false
	}
	for i, want := range pattern {
		if text, ok := path[i].(string); want != "*" && (!ok || text != want) {
			return false
		}
	}
	return true
}
