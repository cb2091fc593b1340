package policies

import (
	"context"

	policiesv1beta1 "github.com/kyverno/api/api/policies.kyverno.io/v1beta1"
	celengine "github.com/kyverno/kyverno/pkg/cel/engine"
	"github.com/kyverno/kyverno/pkg/cel/libs"
	"github.com/kyverno/kyverno/pkg/cel/matching"
	vpolcompiler "github.com/kyverno/kyverno/pkg/cel/policies/vpol/compiler"
	vpolengine "github.com/kyverno/kyverno/pkg/cel/policies/vpol/engine"
	engineapi "github.com/kyverno/kyverno/pkg/engine/api"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
)

// library answers what expressions ask of the outside: nothing. Kyverno keeps it in one variable for the process.
var library = func() *libs.FakeContextProvider {
	provider := libs.NewFakeContextProvider()
	libs.LibraryContext = provider
	return provider
}()

// Validating is a compiled ValidatingPolicy or NamespacedValidatingPolicy with the forms generated for controllers.
type Validating struct{ provider vpolengine.ProviderFunc }

func newValidating(
	policies []policiesv1beta1.ValidatingPolicyLike, spared []*policiesv1beta1.PolicyException,
) (*Validating, error) {
	provider, err := vpolengine.NewProvider(vpolcompiler.NewCompiler(), policies, spared)
	if err != nil {
		return nil, err
	}
	return &Validating{provider: provider}, nil
}

func (v *Validating) judge(subject *Subject, emit Emit) error {
	resource, err := subject.pluralOrGuess()
	if err != nil {
		return err
	}
	object := subject.counted()
	request := celengine.Request(
		library, subject.kind, resource, "", object.GetName(), object.GetNamespace(),
		admissionv1.Create, authenticationv1.UserInfo{}, object, nil, false, nil,
	)
	engine := vpolengine.NewEngine(v.provider, subject.namespace, matching.NewMatcher())
	found, err := engine.Handle(context.Background(), request, nil)
	if err != nil {
		return err
	}
	for _, one := range found.Policies {
		response := engineapi.EngineResponse{
			Resource:       *found.Resource,
			PolicyResponse: engineapi.PolicyResponse{Rules: one.Rules},
		}
		emit(response.WithPolicy(engineapi.NewValidatingPolicyFromLike(one.Policy)))
	}
	return nil
}
