package policies

import (
	"context"
	"errors"
	"reflect"

	"github.com/kyverno/kyverno/pkg/admissionpolicy"
	"github.com/kyverno/kyverno/pkg/cel/matching"
	engineapi "github.com/kyverno/kyverno/pkg/engine/api"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Admission is a compiled ValidatingAdmissionPolicy with its bindings. Kyverno's own pkg/admissionpolicy compiles it for
// every object; what is done with the compiled form follows it line by line.
type Admission struct {
	policy    *admissionregistrationv1.ValidatingAdmissionPolicy
	bindings  []admissionregistrationv1.ValidatingAdmissionPolicyBinding
	validator validating.Validator
}

func newAdmission(
	policy *admissionregistrationv1.ValidatingAdmissionPolicy,
	all []admissionregistrationv1.ValidatingAdmissionPolicyBinding,
) (*Admission, error) {
	if policy.Spec.ParamKind != nil {
		return nil, errors.New("reads parameters")
	}
	compiler, err := admissionpolicy.NewCompiler(policy.Spec.MatchConditions, policy.Spec.Variables)
	if err != nil {
		return nil, err
	}
	compiler.WithValidations(policy.Spec.Validations)
	compiler.WithAuditAnnotations(policy.Spec.AuditAnnotations)
	options := cel.OptionalVariableDeclarations{}
	compiler.CompileVariables(options)
	matchPolicy := admissionregistrationv1.Equivalent
	if constraints := policy.Spec.MatchConstraints; constraints != nil && constraints.MatchPolicy != nil {
		matchPolicy = *constraints.MatchPolicy
	}
	conditions := matchconditions.NewMatcher(
		compiler.CompileMatchConditions(options), policy.Spec.FailurePolicy, "", string(matchPolicy), "")
	made := &Admission{
		policy: policy,
		validator: validating.NewValidator(
			compiler.CompileValidations(options),
			conditions,
			compiler.CompileAuditAnnotationsExpressions(options),
			compiler.CompileMessageExpressions(options),
			policy.Spec.FailurePolicy,
			nil,
		),
	}
	for _, binding := range all {
		if binding.Spec.PolicyName == policy.Name {
			made.bindings = append(made.bindings, binding)
		}
	}
	return made, nil
}

func (a *Admission) judge(subject *Subject, emit Emit) error {
	attributes, err := subject.asked()
	if err != nil {
		return err
	}
	namespace := subject.namespaceOrBare()
	matcher := matching.NewMatcher()
	if len(a.bindings) == 0 {
		chosen, err := matcher.Match(&matching.MatchCriteria{Constraints: a.policy.Spec.MatchConstraints}, attributes, namespace)
		if err != nil || !chosen {
			return err
		}
		return a.validate(subject, nil, attributes, namespace, emit)
	}
	for i, binding := range a.bindings {
		if constraints := binding.Spec.MatchResources; constraints != nil {
			chosen, err := matcher.Match(&matching.MatchCriteria{Constraints: constraints}, attributes, namespace)
			if err != nil {
				return err
			}
			if !chosen {
				continue
			}
		}
		if err := a.validate(subject, &a.bindings[i], attributes, namespace, emit); err != nil {
			return err
		}
	}
	return nil
}

func (a *Admission) validate(
	subject *Subject,
	binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding,
	attributes admission.Attributes,
	namespace *corev1.Namespace,
	emit Emit,
) error {
	versioned, err := admission.NewVersionedAttributes(attributes, attributes.GetKind(), nil)
	if err != nil {
		return err
	}
	result := a.validator.Validate(context.Background(), attributes.GetResource(), versioned, nil, namespace,
		celconfig.RuntimeCELCostBudget, nil)
	rule := a.rule(result)
	if binding != nil {
		rule = rule.WithVAPBinding(binding)
	}
	response := engineapi.NewEngineResponse(*subject.exact, engineapi.NewValidatingAdmissionPolicy(a.policy), nil)
	emit(response.WithPolicyResponse(engineapi.PolicyResponse{Rules: []engineapi.RuleResponse{*rule}}))
	return nil
}

func (a *Admission) rule(result validating.ValidateResult) *engineapi.RuleResponse {
	name := a.policy.GetName()
	if reflect.DeepEqual(result, validating.ValidateResult{}) {
		return engineapi.RuleSkip(name, engineapi.Validation, "match conditions aren't met", nil)
	}
	for _, decision := range result.Decisions {
		if decision.Evaluation == validating.EvalError {
			return engineapi.RuleError(name, engineapi.Validation, decision.Message, nil, nil)
		}
		if decision.Action == validating.ActionDeny {
			return engineapi.RuleFail(name, engineapi.Validation, decision.Message, nil)
		}
	}
	return engineapi.RulePass(name, engineapi.Validation, "", nil)
}

// namespaceOrBare is the object's namespace as the CLI makes it: with the labels that are known, or none.
func (s *Subject) namespaceOrBare() *corev1.Namespace {
	name := s.exact.GetNamespace()
	if name == "" || (s.kind.Group == "" && s.kind.Version == "v1" && s.kind.Kind == "Namespace") {
		return &corev1.Namespace{}
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: s.namespaceLabels}}
}
