// Command registry serves an OCI registry in memory on a free port of loopback, and prints its address. It is for tests.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	referrers := flag.Bool("referrers", true, "answer the referrers API")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	quiet := log.New(io.Discard, "", 0)
	server := &http.Server{
		Handler:           registry.New(registry.Logger(quiet), registry.WithReferrersSupport(*referrers)),
		ReadHeaderTimeout: 10 * time.Second,
	}
	// Whoever started it holds the other end: it never outlives a test run.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
