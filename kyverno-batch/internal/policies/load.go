// Package policies reads and compiles policies as the Kyverno CLI does, each once.
package policies

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-billy/v5/memfs"
	"github.com/go-git/go-billy/v5/util"
	policieskyvernoio "github.com/kyverno/api/api/policies.kyverno.io"
	kyvernov1 "github.com/kyverno/kyverno/api/kyverno/v1"
	"github.com/kyverno/kyverno/cmd/cli/kubectl-kyverno/policy"
	"github.com/kyverno/kyverno/pkg/autogen"
	"github.com/kyverno/kyverno/pkg/config"
	policyvalidation "github.com/kyverno/kyverno/pkg/validation/policy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Source is one policy document (or a few that belong together) with the exceptions that may spare objects from it.
type Source struct {
	ID         string   `json:"id"`
	Document   string   `json:"document"`
	Exceptions []string `json:"exceptions"`
}

// Set is what a source was made into.
type Set struct {
	Classic    *Classic
	Validating *Validating
	Admission  []*Admission
}

// Report says how a source was taken. A source with a problem is not asked.
type Report struct {
	ID string `json:"id"`
	// Rules is what the CLI would count as policy rules.
	Rules   int    `json:"rules"`
	Problem string `json:"problem"`
	// Refused holds the reason by name of each policy that Kyverno itself finds invalid.
	Refused map[string]string `json:"refused"`
	// Names are those that results carry.
	Names []string `json:"names"`
}

// Load reads a source. A panic of Kyverno's over it is its problem, nobody else's.
func Load(source Source) (set *Set, report Report) {
	report.ID = source.ID
	defer func() {
		if p := recover(); p != nil {
			set, report.Problem = nil, fmt.Sprintf("panic: %v", p)
		}
	}()
	set, err := load(source, &report)
	if err != nil {
		return nil, Report{ID: source.ID, Problem: err.Error()}
	}
	return set, report
}

func load(source Source, report *Report) (*Set, error) {
	found, err := read(source.Document)
	if err != nil {
		return nil, err
	}
	exceptions, err := readExceptions(source.Exceptions)
	if err != nil {
		return nil, err
	}
	set := &Set{}
	var classic []kyvernov1.PolicyInterface
	for _, one := range found.Policies {
		report.Rules += len(autogen.Default.ComputeRules(one, ""))
		if err := refusal(one); err != nil {
			if report.Refused == nil {
				report.Refused = map[string]string{}
			}
			report.Refused[one.GetName()] = err.Error()
			continue
		}
		classic = append(classic, one)
		report.Names = append(report.Names, reportName(one))
	}
	if len(classic) > 0 {
		set.Classic = newClassic(classic, exceptions.classic)
	}
	report.Rules += len(found.ValidatingPolicies) + len(found.VAPs)
	for _, one := range found.ValidatingPolicies {
		if one.GetValidatingPolicySpec().EvaluationMode() == policieskyvernoio.EvaluationModeJSON {
			return nil, errors.New("judges JSON payloads")
		}
		report.Names = append(report.Names, reportName(one))
	}
	if len(found.ValidatingPolicies) > 0 {
		if set.Validating, err = newValidating(found.ValidatingPolicies, exceptions.cel); err != nil {
			return nil, err
		}
	}
	for i := range found.VAPs {
		admission, err := newAdmission(&found.VAPs[i], found.VAPBindings)
		if err != nil {
			return nil, err
		}
		set.Admission = append(set.Admission, admission)
		report.Names = append(report.Names, admission.policy.GetName())
	}
	return set, nil
}

// read uses the CLI's own loader, which takes paths only.
func read(document string) (*policy.LoaderResults, error) {
	fs := memfs.New()
	if err := util.WriteFile(fs, "policy.yaml", []byte(document), 0o600); err != nil {
		return nil, err
	}
	found, err := policy.Load(fs, "", "policy.yaml")
	if err != nil {
		return nil, err
	}
	if len(found.NonFatalErrors) > 0 {
		return nil, found.NonFatalErrors[0].Error
	}
	if other := unjudged(found); other != "" {
		return nil, fmt.Errorf("%s are not judged here", other)
	}
	return found, nil
}

// unjudged names what was found besides the kinds this program knows.
func unjudged(found *policy.LoaderResults) string {
	counts := map[string]int{
		"image policies":               len(found.ImageValidatingPolicies),
		"mutating policies":            len(found.MutatingPolicies) + len(found.MAPs) + len(found.MAPBindings),
		"generating policies":          len(found.GeneratingPolicies),
		"deleting policies":            len(found.DeletingPolicies) + len(found.CleanupPolicies),
		"policies about other traffic": len(found.EnvoyPolicies) + len(found.HTTPPolicies),
		"exceptions beside policies":   len(found.PolicyExceptions) + len(found.PolicyCelExceptions),
	}
	var names []string
	for name, count := range counts {
		if count > 0 {
			names = append(names, name)
		}
	}
	for _, one := range found.Policies {
		if spec := one.GetSpec(); spec.HasMutate() || spec.HasGenerate() || spec.HasVerifyImages() {
			names = append(names, "rules that mutate, generate or verify images")
			break
		}
	}
	return strings.Join(names, ", ")
}

// reportName is the name in results: with the namespace before it where there is one.
func reportName(one metav1.Object) string {
	name, _ := cache.MetaNamespaceKeyFunc(one) // fails for what is no object only
	return name
}

func refusal(one kyvernov1.PolicyInterface) error {
	account := config.KyvernoUserName(config.KyvernoServiceAccountName())
	_, err := policyvalidation.Validate(one, nil, nil, true, account, account)
	return err
}
