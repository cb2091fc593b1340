package evaluator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Builtins that reach outside, read the process's surroundings, or answer differently each time: an audit must be
// repeatable and must not call out. The engine may allow single ones by name.
var refusedBuiltins = map[string]string{
	"http.send":          "it calls out over the network",
	"net.lookup_ip_addr": "it calls out over the network",
	"opa.runtime":        "it reads the environment of the process",
	"rand.intn":          "it answers differently each time",
	"rego.parse_module":  "it runs the parser on input",
	"time.now_ns":        "it answers differently each time",
	"uuid.rfc4122":       "it answers differently each time",
}

// hermetic are OPA's capabilities without the refused builtins and without network.
func hermetic(allowed []string) *ast.Capabilities {
	capabilities := ast.CapabilitiesForThisVersion()
	capabilities.AllowNet = []string{}
	capabilities.Builtins = slices.DeleteFunc(slices.Clone(capabilities.Builtins), func(b *ast.Builtin) bool {
		_, refused := refusedBuiltins[b.Name]
		return refused && !slices.Contains(allowed, b.Name)
	})
	return capabilities
}

// explainRefusals turns "undefined function http.send" into what it really means.
func explainRefusals(problems []Problem) {
	for i, problem := range problems {
		name, found := strings.CutPrefix(problem.Message, "undefined function ")
		if !found {
			continue
		}
		if why, refused := refusedBuiltins[name]; refused {
			problems[i].Code = "refused_builtin"
			problems[i].Message = fmt.Sprintf("%s is not allowed: %s", name, why)
		}
	}
}

// unknownAllowances lists allowed names that are no refused builtins: a typing error, or a needless exception.
func unknownAllowances(allowed []string) []Problem {
	var problems []Problem
	for _, name := range allowed {
		if _, refused := refusedBuiltins[name]; !refused {
			problems = append(problems, Problem{
				Code:    "unknown_allowance",
				Message: fmt.Sprintf("%q is not one of the refused builtins: %s", name, strings.Join(sortedKeys(refusedBuiltins), ", ")),
			})
		}
	}
	return problems
}
