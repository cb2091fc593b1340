package evaluator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
)

// SuiteRequest is modules with test rules in them, and the data they see.
type SuiteRequest struct {
	Modules  map[string]string `json:"modules"`
	Data     json.RawMessage   `json:"data"`
	LimitMS  int64             `json:"limit_ms"`
	Coverage bool              `json:"coverage"`
}

// SuiteTest is one test rule.
type SuiteTest struct {
	Package string `json:"package"`
	Name    string `json:"name"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	// Todo marks a test that its author put off.
	Todo bool `json:"todo"`
	// Lost is the file without which the test cannot be run, when that one does not compile.
	Lost string `json:"lost"`
	// Unknown are references of the test that lead nowhere: no rule, no data and no "with" defines them.
	Unknown []string `json:"unknown"`
}

// SuiteReport is the answer to a SuiteRequest. Problems cost the modules they stand in and those that need them.
type SuiteReport struct {
	Modules  []ModuleInfo `json:"modules"`
	Tests    []SuiteTest  `json:"tests"`
	Problems []Problem    `json:"problems"`
}

// suite is a compiled set of modules with tests; it is safe for all workers at once.
type suite struct {
	compiler *ast.Compiler
	store    storage.Store
	txn      storage.Transaction
	rules    map[TestRef]*ast.Rule
	limit    time.Duration
	coverage bool
}

// openSuite is what suites may use: everything that OPA has, except the world outside. Tests replace http.send and the
// like by "with", which needs them declared; a real call fails.
func openSuite() *ast.Capabilities {
	capabilities := ast.CapabilitiesForThisVersion()
	capabilities.AllowNet = []string{}
	return capabilities
}

// loadSuite compiles what can be compiled. It is nil when the data cannot be read.
func loadSuite(request SuiteRequest) (*suite, SuiteReport) {
	report := SuiteReport{Modules: []ModuleInfo{}, Tests: []SuiteTest{}}
	data := map[string]any{}
	if len(request.Data) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(request.Data))
		decoder.UseNumber()
		if err := decoder.Decode(&data); err != nil {
			report.Problems = []Problem{{Code: "bad_data", Message: "data is not a JSON object: " + err.Error()}}
			return nil, report
		}
	}
	modules, problems := parseModules(request.Modules, nil)
	for _, m := range modules {
		report.Modules = append(report.Modules, ModuleInfo{m.path, packageName(m.module.Package), m.dialect})
	}
	numberDuplicates(modules)
	s := &suite{
		store:    inmem.NewFromObjectWithOpts(data, inmem.OptReturnASTValuesOnRead(true), inmem.OptRoundTripOnWrite(false)),
		rules:    map[TestRef]*ast.Rule{},
		limit:    time.Duration(request.LimitMS) * time.Millisecond,
		coverage: request.Coverage,
	}
	var err error
	if s.txn, err = s.store.NewTransaction(context.Background()); err != nil {
		report.Problems = []Problem{{Code: "bad_data", Message: err.Error()}}
		return nil, report
	}
	lost := newLosses(modules)
	lost.drop(problems, request.Modules)
	for {
		found := s.compile(lost.kept())
		if len(found) == 0 {
			break
		}
		problems = append(problems, found...)
		if !lost.drop(found, request.Modules) {
			lost.dropAll(found[0])
		}
	}
	for _, m := range modules {
		report.Tests = append(report.Tests, s.testsOf(m, lost.cause[m.path], data)...)
	}
	report.Problems = nonNil(sortProblems(problems))
	return s, report
}

// compile compiles with the stages that OPA's own test runner adds.
func (s *suite) compile(modules map[string]*ast.Module) []Problem {
	ctx := context.Background()
	s.compiler = ast.NewCompiler().
		SetErrorLimit(0).
		WithCapabilities(openSuite()).
		WithEnablePrintStatements(true).
		WithPathConflictsCheck(storage.NonEmpty(ctx, s.store, s.txn)).
		WithUseTypeCheckAnnotations(true)
	if len(modules) == 0 {
		s.compiler.Compile(modules)
		return nil
	}
	// The runner keeps its stages to itself: it is asked to run the tests of no name, which compiles and runs nothing.
	results, err := tester.NewRunner().SetCompiler(s.compiler).SetStore(s.store).SetModules(modules).Filter("^$").RunTests(ctx, s.txn)
	if err == nil {
		for range results {
		}
		return nil
	}
	var many ast.Errors
	if !errors.As(err, &many) {
		return []Problem{{Code: "rego_compile_error", Message: err.Error()}}
	}
	problems := make([]Problem, 0, len(many))
	for _, one := range many {
		problems = append(problems, problemOf("", one))
	}
	return problems
}

// testsOf lists the tests of a module, compiled where it could be.
func (s *suite) testsOf(m parsed, lost string, data map[string]any) []SuiteTest {
	module := m.module
	if compiled := s.compiler.Modules[m.path]; compiled != nil && lost == "" {
		module = compiled
	}
	var tests []SuiteTest
	for _, rule := range module.Rules {
		name, ref := testName(rule.Head)
		if ref == nil {
			continue
		}
		test := SuiteTest{
			Package: packageName(module.Package),
			Name:    ref.String(),
			File:    m.path,
			Todo:    isTodo(name),
			Lost:    lost,
			Unknown: []string{},
		}
		if loc := rule.Loc(); loc != nil {
			test.Line = loc.Row
		}
		if lost == "" && !test.Todo {
			s.rules[TestRef{test.Package, test.Name}] = rule
			test.Unknown = unknownIn(s.compiler.RuleTree, data, rule)
		}
		tests = append(tests, test)
	}
	return tests
}

// unknownIn lists what a rule refers to and nobody defines; what a "with" of the rule puts there is defined.
func unknownIn(tree *ast.TreeNode, data map[string]any, rule *ast.Rule) []string {
	var given []ast.Ref
	ast.WalkExprs(rule, func(expr *ast.Expr) bool {
		for _, with := range expr.With {
			if ref, ok := with.Target.Value.(ast.Ref); ok {
				given = append(given, ref)
			}
		}
		return false
	})
	found := []string{}
	ast.WalkRefs(rule, func(ref ast.Ref) bool {
		known := knownReference(tree, data, ref)
		if known == len(ref) {
			return false
		}
		for _, target := range given {
			if ref.HasPrefix(target) || target.HasPrefix(ref[:known+1]) {
				return false
			}
		}
		if name := ref[:known+1].String(); !slices.Contains(found, name) {
			found = append(found, name)
		}
		return false
	})
	return found
}
