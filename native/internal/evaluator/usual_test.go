package evaluator

import (
	"encoding/json"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"
)

func usualInput(text string) (ast.Value, error) {
	if !json.Valid([]byte(text)) {
		return nil, json.Unmarshal([]byte(text), new(any))
	}
	var decoded any
	if err := util.UnmarshalJSON([]byte(text), &decoded); err != nil {
		return nil, err
	}
	return ast.InterfaceToValue(decoded)
}
