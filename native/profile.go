//go:build profile

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
)

// profileFolder is where CPU profiles go; the linker sets it, see scripts/profile_native.py.
var profileFolder string

// The end of stdin ends the process at once, so stdin is held back until the profile is written.
func init() {
	file, err := os.Create(filepath.Join(profileFolder, fmt.Sprintf("%d.pprof", os.Getpid())))
	if err != nil {
		panic(err)
	}
	held, let, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		panic(err)
	}
	given := os.Stdin
	os.Stdin = held
	go func() {
		_, _ = io.Copy(let, given)
		pprof.StopCPUProfile()
		_ = file.Close()
		_ = let.Close()
	}()
}
