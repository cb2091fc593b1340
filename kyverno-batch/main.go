// Command fleetaudit-kyverno-batch judges objects by Kyverno policies with Kyverno's own engine: policies are compiled
// once, objects come in batches. It talks frames over its standard input and output; see fleetaudit.dev/child/wire.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"fleetaudit.dev/child/serve"
	"fleetaudit.dev/child/wire"
	"fleetaudit.dev/kyverno-batch/internal/judge"
)

const (
	usage  = "usage: fleetaudit-kyverno-batch judge|version"
	engine = "github.com/kyverno/kyverno"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	hello := serve.Hello{
		Protocol: wire.Protocol,
		Mode:     os.Args[1],
		Kyverno:  kyvernoVersion(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	switch os.Args[1] {
	case "judge":
		// Without a sink controller-runtime keeps every logger that was ever made, for a sink that might come.
		ctrllog.SetLogger(logr.Discard())
		klog.SetLogger(logr.Discard())
		handler, err := judge.NewHandler()
		if err != nil {
			fmt.Fprintln(os.Stderr, "cannot start:", err)
			os.Exit(serve.ExitProtocol)
		}
		os.Exit(serve.Run(hello, serve.MemoryLimit(), handler))
	case "version":
		if err := json.NewEncoder(os.Stdout).Encode(hello); err != nil {
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
}

// kyvernoVersion is the version of the engine that was linked, without its v; empty when the build does not say.
func kyvernoVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == engine {
			return strings.TrimPrefix(dep.Version, "v")
		}
	}
	return ""
}
