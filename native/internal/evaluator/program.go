package evaluator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
)

// Rule is one rule to ask, as the engine lists it. Answers refer to it by its place in the list.
type Rule struct {
	ID       string   `json:"id"`
	Package  string   `json:"package"`
	Kinds    []string `json:"kinds"`
	WarnOnly bool     `json:"warn_only"`
}

// LoadRequest is everything a program is made of.
type LoadRequest struct {
	Modules       map[string]string `json:"modules"`
	Data          json.RawMessage   `json:"data"`
	Rules         []Rule            `json:"rules"`
	AllowBuiltins []string          `json:"allow_builtins"`
	ObjectMS      int64             `json:"object_ms"`
	NowNS         int64             `json:"now_ns"`
	// Strict holds rules to more than OPA does: a failed builtin is an error, and so is a reference to what is defined
	// nowhere. Both would otherwise be undefined, which in a rule that lists violations reads as "none".
	Strict bool `json:"strict"`
}

// ModuleInfo says how a module was read.
type ModuleInfo struct {
	File    string `json:"file"`
	Package string `json:"package"`
	Dialect string `json:"dialect"`
}

// LoadReport is the answer to a LoadRequest. A program with problems is not run.
type LoadReport struct {
	Modules  []ModuleInfo `json:"modules"`
	Problems []Problem    `json:"problems"`
}

// ruleState is a rule and how it has behaved so far.
type ruleState struct {
	Rule
	ref    ast.Ref
	errors atomic.Int32 // run-time errors so far: after a few, the rule is asked alone
	stops  atomic.Int32 // times it ran into a limit: after many, it is not asked any more
}

// program is a compiled set of modules with the rules to ask; it is safe for all workers at once.
type program struct {
	compiler *ast.Compiler
	data     map[string]any
	rules    []*ruleState
	limit    time.Duration
	now      time.Time
	strict   bool

	mu      sync.Mutex
	classes map[string]*class
	epoch   atomic.Int64 // raised when a rule's standing changes
}

// load compiles a program. It is nil when the report lists problems. Compiling works on copies, so `known` stays good.
func load(request LoadRequest, known parsedSources) (*program, LoadReport) {
	modules, problems := parseModules(request.Modules, known)
	problems = append(problems, unknownAllowances(request.AllowBuiltins)...)
	report := LoadReport{Modules: []ModuleInfo{}}
	byPath := make(map[string]*ast.Module, len(modules))
	for _, m := range modules {
		byPath[m.path] = m.module
		report.Modules = append(report.Modules, ModuleInfo{m.path, packageName(m.module.Package), m.dialect})
	}

	compiler := ast.NewCompiler().
		SetErrorLimit(0).
		WithCapabilities(hermetic(request.AllowBuiltins)).
		WithEnablePrintStatements(false)
	if len(problems) == 0 {
		compiler.Compile(byPath)
		for _, err := range compiler.Errors {
			problems = append(problems, problemOf("", err))
		}
		explainRefusals(problems)
	}
	p := &program{
		compiler: compiler,
		data:     map[string]any{},
		limit:    time.Duration(request.ObjectMS) * time.Millisecond,
		now:      time.Unix(0, request.NowNS).UTC(),
		strict:   request.Strict,
		classes:  map[string]*class{},
	}
	if len(request.Data) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(request.Data))
		decoder.UseNumber()
		if err := decoder.Decode(&p.data); err != nil {
			problems = append(problems, Problem{Code: "bad_data", Message: "data is not a JSON object: " + err.Error()})
		}
	}
	if len(problems) == 0 && request.Strict {
		problems = unknownReferences(compiler, p.data)
	}
	if len(problems) == 0 {
		problems = p.addRules(request.Rules)
	}
	report.Problems = nonNil(sortProblems(problems))
	if len(problems) > 0 {
		return nil, report
	}
	return p, report
}

// addRules finds each rule's package and refuses those without the two documents that are asked for.
func (p *program) addRules(rules []Rule) []Problem {
	var problems []Problem
	for _, rule := range rules {
		ref, err := ast.ParseRef("data." + rule.Package)
		if err != nil {
			problems = append(problems, Problem{Code: "bad_package", Message: fmt.Sprintf("rule %s: %q is no package name", rule.ID, rule.Package)})
			continue
		}
		for _, name := range []string{"applies", "violations"} {
			if len(p.compiler.GetRulesExact(ref.Append(ast.StringTerm(name)))) == 0 {
				problems = append(problems, Problem{
					File:    p.fileOf(ref),
					Code:    "missing_rule",
					Message: fmt.Sprintf("rule %s: package %s does not define %s", rule.ID, rule.Package, name),
				})
			}
		}
		p.rules = append(p.rules, &ruleState{Rule: rule, ref: ref})
	}
	return problems
}

func (p *program) fileOf(ref ast.Ref) string {
	for _, path := range sortedKeys(p.compiler.Modules) {
		if p.compiler.Modules[path].Package.Path.Equal(ref) {
			return path
		}
	}
	return ""
}

// sortProblems orders by place, so that equal content gives equal reports.
func sortProblems(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(x, y Problem) int {
		switch {
		case x.File != y.File && x.File < y.File:
			return -1
		case x.File != y.File:
			return 1
		case x.Line != y.Line:
			return x.Line - y.Line
		default:
			return x.Column - y.Column
		}
	})
	return problems
}

// view is the data that rules see during one evaluation run.
type view struct {
	*program
	store storage.Store
	txn   storage.Transaction
	idle  sync.WaitGroup // evaluations under way
}
