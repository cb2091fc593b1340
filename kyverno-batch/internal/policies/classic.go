package policies

import (
	"context"

	kyvernov1 "github.com/kyverno/kyverno/api/kyverno/v1"
	kyvernov2 "github.com/kyverno/kyverno/api/kyverno/v2"
	"github.com/kyverno/kyverno/pkg/config"
	"github.com/kyverno/kyverno/pkg/engine"
	engineapi "github.com/kyverno/kyverno/pkg/engine/api"
	"github.com/kyverno/kyverno/pkg/engine/factories"
	"github.com/kyverno/kyverno/pkg/engine/jmespath"
	"github.com/kyverno/kyverno/pkg/engine/policycontext"
	"github.com/kyverno/kyverno/pkg/exceptions"
	imageverifycache "github.com/kyverno/kyverno/pkg/image/verification/cache"
)

var (
	configuration = config.NewDefaultConfiguration(false)
	search        = jmespath.New(configuration)
)

// Classic is a ClusterPolicy or Policy, or a few of one document.
type Classic struct {
	policies []kyvernov1.PolicyInterface
	engine   engineapi.Engine
}

func newClassic(policies []kyvernov1.PolicyInterface, spared []*kyvernov2.PolicyException) *Classic {
	inCluster := false
	return &Classic{
		policies: policies,
		// No client and no registry: rules that need one are the CLI's.
		engine: engine.NewEngine(
			configuration, search, nil, nil, imageverifycache.DisabledImageVerifyCache(),
			factories.DefaultContextLoaderFactory(nil), exceptions.New(lister(spared)), &inCluster,
		),
	}
}

func (c *Classic) judge(subject *Subject, emit Emit) error {
	shared, err := subject.classicContext()
	if err != nil {
		return err
	}
	for _, one := range c.policies {
		own := shared.WithPolicy(one).WithNamespaceLabels(subject.namespaceLabels).WithResourceKind(subject.kind, "")
		emit(c.engine.Validate(context.Background(), own))
	}
	return nil
}

// classicContext is made once for all policies: the engine restores it after each.
func (s *Subject) classicContext() (*policycontext.PolicyContext, error) {
	if s.context == nil {
		made, err := engine.NewPolicyContext(search, *s.counted(), kyvernov1.Create, nil, configuration)
		if err != nil {
			return nil, err
		}
		s.context = made
	}
	return s.context, nil
}
