package policies

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	policiesv1beta1 "github.com/kyverno/api/api/policies.kyverno.io/v1beta1"
	kyvernov2 "github.com/kyverno/kyverno/api/kyverno/v2"
	"github.com/kyverno/kyverno/cmd/cli/kubectl-kyverno/exception"
	"k8s.io/apimachinery/pkg/labels"
)

type exceptionSet struct {
	classic []*kyvernov2.PolicyException
	cel     []*policiesv1beta1.PolicyException
}

// known holds what was read: the same exceptions come with policy after policy, and reading them takes long.
var known struct {
	sync.Mutex
	sets map[string]exceptionSet
}

// readExceptions uses the CLI's own loader, which takes paths only.
func readExceptions(documents []string) (exceptionSet, error) {
	if len(documents) == 0 {
		return exceptionSet{}, nil
	}
	text := strings.Join(documents, "\n---\n")
	known.Lock()
	defer known.Unlock()
	if set, ok := known.sets[text]; ok {
		return set, nil
	}
	file, err := os.CreateTemp("", "exceptions-*.yaml")
	if err != nil {
		return exceptionSet{}, err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return exceptionSet{}, err
	}
	found, err := exception.Load(file.Name())
	if err != nil {
		return exceptionSet{}, fmt.Errorf("exceptions: %w", err)
	}
	set := exceptionSet{classic: found.Exceptions, cel: found.CELExceptions}
	if known.sets == nil {
		known.sets = map[string]exceptionSet{}
	}
	known.sets[text] = set
	return set, nil
}

// lister hands exceptions to Kyverno's selector.
type lister []*kyvernov2.PolicyException

func (l lister) List(selector labels.Selector) ([]*kyvernov2.PolicyException, error) {
	var found []*kyvernov2.PolicyException
	for _, one := range l {
		if selector.Matches(labels.Set(one.GetLabels())) {
			found = append(found, one)
		}
	}
	return found, nil
}
