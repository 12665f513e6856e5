package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/understudy-go/understudy/internal/lab/peerbench/bench"
)

// A checkout is what a library that the module proxy does not have needs.
type checkout struct {
	module, version string
	release         string // a shell command that prints, in the directory, which release it is
}

// checkouts are by library. The version is any that the module's path allows, as it is replaced.
var checkouts = map[string]checkout{
	bench.Goakt: {"github.com/tochemey/goakt/v4", "v4.0.0", `ls changelogs | sed -n 's/^\(v.*\)\.md$/\1/p' | sort -V | tail -1`},
	bench.Ergo:  {"ergo.services/ergo", "v1.0.0", `sed -n 's/.*Release: *"\(.*\)".*/v\1/p' version.go`},
}

// buildWith builds the program of a library against a checkout of it in dir. The source is in a
// directory that the go command passes over, because it cannot be compiled without the checkout.
func buildWith(ctx context.Context, library, dir, programs string, progress io.Writer) error {
	work, err := os.MkdirTemp("", "peerbench-"+library)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := layOut(work, library, dir); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-o", filepath.Join(programs, library), ".")
	cmd.Dir, cmd.Stdout, cmd.Stderr = work, progress, progress
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v with %s from %s: %w", cmd.Args, library, dir, err)
	}
	return nil
}

// layOut writes a module with the program of a library, which takes the library from dir.
func layOut(work, library, dir string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join("_"+library, "main.go"))
	if err != nil {
		return err
	}
	c := checkouts[library]
	mod := fmt.Sprintf(`module %[1]s/%[2]s
go 1.26.0
require (
	%[1]s v0.0.0
	%[3]s %[4]s
)
replace (
	%[1]s => %[5]q
	%[6]s => %[7]q
	%[3]s => %[8]q
)
`, ownModule, library, c.module, c.version, here, rootModule, filepath.Join(here, "..", "..", ".."), dir)
	return errors.Join(
		os.WriteFile(filepath.Join(work, "main.go"), source, 0o600),
		os.WriteFile(filepath.Join(work, "go.mod"), []byte(mod), 0o600))
}

const (
	rootModule = "github.com/understudy-go/understudy"
	ownModule  = rootModule + "/internal/lab/peerbench"
)
