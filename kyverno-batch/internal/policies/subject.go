package policies

import (
	"errors"
	"fmt"
	"sync"

	"github.com/kyverno/kyverno/pkg/admissionpolicy"
	engineapi "github.com/kyverno/kyverno/pkg/engine/api"
	"github.com/kyverno/kyverno/pkg/engine/policycontext"
	restmapping "github.com/kyverno/kyverno/pkg/utils/restmapper"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// mapper knows the kinds that are built into Kubernetes, from discovery data inside Kyverno.
var mapper = sync.OnceValues(func() (meta.RESTMapper, error) { return restmapping.GetRESTMapper(nil) })

// Emit takes what one policy says of one object.
type Emit func(engineapi.EngineResponse)

// Labels of namespaces by name; only namespaces that are known.
type Labels map[string]map[string]string

// Subject is one object to be judged. Not for use by several goroutines.
type Subject struct {
	kind            schema.GroupVersionKind
	exact           *unstructured.Unstructured
	floats          *unstructured.Unstructured
	attributes      admission.Attributes
	namespaceLabels map[string]string
	labels          Labels
	context         *policycontext.PolicyContext
}

// NewSubject decodes an object. The engine wrote its namespace down and gave it a uid.
func NewSubject(raw []byte, labels Labels) (*Subject, error) {
	exact := &unstructured.Unstructured{}
	if err := exact.UnmarshalJSON(raw); err != nil {
		return nil, err
	}
	if exact.IsList() {
		return nil, errors.New("a list is no object")
	}
	fillMaps(exact.Object)
	return &Subject{
		kind:            exact.GroupVersionKind(),
		exact:           exact,
		namespaceLabels: labels[exact.GetNamespace()],
		labels:          labels,
	}, nil
}

// UID is the object's own, by which its answers are paired with it.
func (s *Subject) UID() string { return string(s.exact.GetUID()) }

// counted is the object with whole numbers as the CLI has them.
func (s *Subject) counted() *unstructured.Unstructured {
	if s.floats == nil {
		s.floats = &unstructured.Unstructured{Object: withFloats(s.exact.Object).(map[string]any)}
	}
	return s.floats
}

// asked is the request of an admission policy; policies only read it, so one is enough for all.
func (s *Subject) asked() (admission.Attributes, error) {
	if s.attributes == nil {
		resource, err := s.plural()
		if err != nil {
			return nil, err
		}
		s.attributes = admission.NewAttributesRecord(
			s.exact, nil, s.kind, s.exact.GetNamespace(), s.exact.GetName(), resource, "", admission.Create, nil, false,
			admissionpolicy.ResolveUser(nil))
	}
	return s.attributes, nil
}

// Judge asks all policies of a set.
func (set *Set) Judge(subject *Subject, emit Emit) error {
	if set.Classic != nil {
		if err := set.Classic.judge(subject, emit); err != nil {
			return err
		}
	}
	if set.Validating != nil {
		if err := set.Validating.judge(subject, emit); err != nil {
			return err
		}
	}
	for _, one := range set.Admission {
		if err := one.judge(subject, emit); err != nil {
			return err
		}
	}
	return nil
}

// plural is the resource of a built-in kind.
func (s *Subject) plural() (schema.GroupVersionResource, error) {
	known, err := mapper()
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	mapping, err := known.RESTMapping(s.kind.GroupKind(), s.kind.Version)
	if err != nil {
		return schema.GroupVersionResource{}, fmt.Errorf("failed to map gvk to gvr %s: %w", s.kind, err)
	}
	return mapping.Resource, nil
}

// pluralOrGuess takes English for kinds it does not know, as the CLI does.
func (s *Subject) pluralOrGuess() (schema.GroupVersionResource, error) {
	if found, err := s.plural(); err == nil {
		return found, nil
	}
	guessed, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: s.kind.Kind})
	if guessed.Resource == "" {
		return guessed, fmt.Errorf("no resource is known for the kind %q", s.kind.Kind)
	}
	return s.kind.GroupVersion().WithResource(guessed.Resource), nil
}

// namespace is nil for one that is not known.
func (s *Subject) namespace(name string) *corev1.Namespace {
	labels, known := s.labels[name]
	if !known {
		return nil
	}
	return &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
	}
}

// Fields that the CLI takes for empty maps where nothing is written.
var filled = map[string]bool{
	"annotations": true, "labels": true, "matchLabels": true, "nodeSelector": true, "data": true, "stringData": true,
}

func fillMaps(object map[string]any) {
	for key, value := range object {
		switch found := value.(type) {
		case nil:
			if filled[key] {
				object[key] = map[string]any{}
			}
		case map[string]any:
			fillMaps(found)
		case []any:
			for _, item := range found {
				if inner, ok := item.(map[string]any); ok {
					fillMaps(inner)
				}
			}
		}
	}
}

// withFloats copies a value with whole numbers as floats: Kyverno's JMESPath has no others, and the CLI hands over these.
func withFloats(value any) any {
	switch found := value.(type) {
	case map[string]any:
		made := make(map[string]any, len(found))
		for key, item := range found {
			made[key] = withFloats(item)
		}
		return made
	case []any:
		made := make([]any, len(found))
		for i, item := range found {
			made[i] = withFloats(item)
		}
		return made
	case int64:
		return float64(found)
	}
	return value
}
