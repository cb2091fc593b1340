// Command fleetaudit-native is the child process of fleetaudit: it reads manifests as Kubernetes reads them and asks
// Rego rules about them with OPA itself. It talks frames over its standard input and output; see internal/wire.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"

	"github.com/open-policy-agent/opa/v1/version"

	"fleetaudit.dev/child/serve"
	"fleetaudit.dev/child/wire"
	"fleetaudit.dev/native/internal/evaluator"
	"fleetaudit.dev/native/internal/reader"
)

const usage = "usage: fleetaudit-native read|eval|version"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	mode := os.Args[1]
	hello := serve.Hello{
		Protocol: wire.Protocol,
		Mode:     mode,
		OPA:      version.Version,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	switch mode {
	case "read":
		os.Exit(serve.Run(hello, serve.MemoryLimit(), &reader.Handler{}))
	case "eval":
		os.Exit(serve.Run(hello, serve.MemoryLimit(), &evaluator.Handler{}))
	case "version":
		if err := json.NewEncoder(os.Stdout).Encode(hello); err != nil {
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
}
