package evaluator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"

	"fleetaudit.dev/child/serve"
)

// QueryRequest is any query over any modules: the conformance suite's way in, which also asks for every builtin.
type QueryRequest struct {
	AllBuiltins bool `json:"all_builtins"`

	Modules   []string        `json:"modules"`
	Query     string          `json:"query"`
	Data      json.RawMessage `json:"data"`
	Input     json.RawMessage `json:"input"`
	InputTerm string          `json:"input_term"`
	V0        bool            `json:"v0"`
	Strict    bool            `json:"strict"`
	LimitMS   int64           `json:"limit_ms"`
}

// QueryAnswer is a result set, or an error with its code.
type QueryAnswer struct {
	Results []map[string]json.RawMessage `json:"results"`
	Code    string                       `json:"code"`
	Message string                       `json:"message"`
}

// Query evaluates one request.
func Query(request QueryRequest, slot *serve.Slot) QueryAnswer {
	results, err := runQuery(request, slot)
	if err == nil {
		return QueryAnswer{Results: results}
	}
	answer := QueryAnswer{Code: "eval_error", Message: err.Error()}
	var evalError *topdown.Error
	var astErrors ast.Errors
	var astError *ast.Error
	var stopped stopError
	switch {
	case errors.As(err, &stopped):
		answer.Code = "timeout"
	case errors.As(err, &evalError):
		answer.Code = evalError.Code
	case errors.As(err, &astErrors) && len(astErrors) > 0:
		answer.Code = astErrors[0].Code
	case errors.As(err, &astError):
		answer.Code = astError.Code
	}
	return answer
}

func runQuery(request QueryRequest, slot *serve.Slot) ([]map[string]json.RawMessage, error) {
	version := ast.RegoV1
	if request.V0 {
		version = ast.RegoV0
	}
	capabilities := ast.CapabilitiesForThisVersion(
		ast.CapabilitiesRegoVersion(version), ast.CapabilitiesExperimentalKeywords(true))
	if !request.AllBuiltins {
		capabilities.Builtins, capabilities.AllowNet = hermetic(nil).Builtins, []string{}
	}
	options := ast.ParserOptions{RegoVersion: version, ProcessAnnotation: true, Capabilities: capabilities}
	modules := map[string]*ast.Module{}
	for i, source := range request.Modules {
		name := fmt.Sprintf("module-%d.rego", i)
		module, err := ast.ParseModuleWithOpts(name, source, options)
		if err != nil {
			return nil, err
		}
		modules[name] = module
	}
	compiler := ast.NewCompiler().WithCapabilities(capabilities).WithDefaultRegoVersion(version)
	if compiler.Compile(modules); compiler.Failed() {
		return nil, compiler.Errors
	}
	data := map[string]any{}
	if len(request.Data) > 0 {
		decoder := json.NewDecoder(strings.NewReader(string(request.Data)))
		decoder.UseNumber()
		if err := decoder.Decode(&data); err != nil {
			return nil, err
		}
	}
	body, err := ast.ParseBodyWithOpts(request.Query, options)
	if err != nil {
		return nil, err
	}
	compiled, err := compiler.QueryCompiler().Compile(body)
	if err != nil {
		return nil, err
	}
	input, err := queryInput(request)
	if err != nil {
		return nil, err
	}
	return collect(request, slot, compiler, compiled, data, input)
}

func queryInput(request QueryRequest) (*ast.Term, error) {
	switch {
	case request.InputTerm != "":
		return ast.ParseTerm(request.InputTerm)
	case len(request.Input) > 0:
		return parseInput(request.Input)
	default:
		return nil, nil
	}
}

func collect(
	request QueryRequest, slot *serve.Slot, compiler *ast.Compiler, body ast.Body, data map[string]any, input *ast.Term,
) (results []map[string]json.RawMessage, err error) {
	ctx := context.Background()
	store := inmem.NewFromObjectWithOpts(data, inmem.OptReturnASTValuesOnRead(true))
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Abort(ctx, txn)
	cancel := topdown.NewCancel()
	slot.Begin(time.Duration(request.LimitMS)*time.Millisecond, cancel.Cancel)
	defer func() {
		if stopped := slot.End(); stopped != serve.NotStopped && err != nil {
			err = stopError{stopped}
		}
	}()
	query := topdown.NewQuery(body).
		WithCompiler(compiler).
		WithStore(store).
		WithTransaction(txn).
		WithInput(input).
		WithCancel(cancel).
		WithStrictBuiltinErrors(request.Strict)
	results = []map[string]json.RawMessage{}
	err = query.Iter(ctx, func(result topdown.QueryResult) error {
		row := map[string]json.RawMessage{}
		for name, term := range result {
			value, err := ast.JSON(term.Value)
			if err != nil {
				return err
			}
			if row[string(name)], err = json.Marshal(value); err != nil {
				return err
			}
		}
		results = append(results, row)
		return nil
	})
	return results, err
}
