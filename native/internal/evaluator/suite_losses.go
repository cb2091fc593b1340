package evaluator

import (
	"regexp"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// losses are modules that cannot be compiled, and those that would be asked without something they need. A test whose
// rule is not there may pass for that very reason, so it must not be run.
type losses struct {
	modules []parsed
	needs   map[string][]ast.Ref // below data, by path
	cause   map[string]string    // path of a lost module to the file that is at fault
}

func newLosses(modules []parsed) *losses {
	l := &losses{modules: modules, needs: map[string][]ast.Ref{}, cause: map[string]string{}}
	for _, m := range modules {
		l.needs[m.path] = referencesOf(m.module)
	}
	return l
}

// kept are the modules that are left.
func (l *losses) kept() map[string]*ast.Module {
	kept := make(map[string]*ast.Module, len(l.modules))
	for _, m := range l.modules {
		if l.cause[m.path] == "" {
			kept[m.path] = m.module
		}
	}
	return kept
}

// drop leaves out the files that have problems and everything that needs their packages. It is false when that changes
// nothing.
func (l *losses) drop(problems []Problem, sources map[string]string) bool {
	before := len(l.cause)
	for _, problem := range problems {
		if problem.File == "" || l.cause[problem.File] != "" {
			continue
		}
		l.cause[problem.File] = problem.File
		l.spread(problem.File, l.packageOf(problem.File, sources[problem.File]))
	}
	return len(l.cause) > before
}

// dropAll gives up: what is wrong has no place.
func (l *losses) dropAll(problem Problem) {
	for _, m := range l.modules {
		if l.cause[m.path] == "" {
			l.cause[m.path] = problem.Message
		}
	}
}

func (l *losses) spread(cause string, lost ast.Ref) {
	if lost == nil {
		return
	}
	for _, m := range l.modules {
		if l.cause[m.path] != "" || !l.depends(m, lost) {
			continue
		}
		l.cause[m.path] = cause
		l.spread(cause, m.module.Package.Path)
	}
}

func (l *losses) depends(m parsed, lost ast.Ref) bool {
	if m.module.Package.Path.Equal(lost) {
		return true
	}
	for _, ref := range l.needs[m.path] {
		if ref.HasPrefix(lost) || lost.HasPrefix(ref) {
			return true
		}
	}
	return false
}

var packageClause = regexp.MustCompile(`(?m)^\s*package\s+([A-Za-z_][\w.]*)`)

// packageOf is the package of a file, also of one that cannot be parsed; nil when nobody can tell.
func (l *losses) packageOf(path, source string) ast.Ref {
	for _, m := range l.modules {
		if m.path == path {
			return m.module.Package.Path
		}
	}
	found := packageClause.FindStringSubmatch(source)
	if found == nil {
		return nil
	}
	ref, err := ast.ParseRef("data." + strings.TrimSuffix(found[1], "."))
	if err != nil {
		return nil
	}
	return ref
}

// referencesOf are the parts of data that a module reads, as far as they are written out.
func referencesOf(module *ast.Module) []ast.Ref {
	var found []ast.Ref
	add := func(ref ast.Ref) {
		if len(ref) > 0 && ref[0].Equal(ast.DefaultRootDocument) {
			found = append(found, ref.ConstantPrefix())
		}
	}
	for _, imported := range module.Imports {
		if ref, ok := imported.Path.Value.(ast.Ref); ok {
			add(ref)
		}
	}
	for _, rule := range module.Rules {
		ast.WalkRefs(rule, func(ref ast.Ref) bool {
			add(ref)
			return false
		})
	}
	return found
}
