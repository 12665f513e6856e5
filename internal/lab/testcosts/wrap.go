package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Variables that are set for the processes of a measurement: the folder for their figures, and the
// root of the repository.
const (
	dirVariable  = "UNDERSTUDY_TESTCOSTS"
	rootVariable = "UNDERSTUDY_TESTCOSTS_ROOT"
)

// A ran is what one test binary has cost.
type ran struct {
	Package string
	CPU     time.Duration
}

// becomeGo replaces this process by the go command. A go test also writes its graph of actions, and
// runs each test binary through runTest.
func becomeGo(dir string, args []string) error {
	program, err := exec.LookPath("go")
	if err != nil {
		return err
	}
	at := 0
	if len(args) > 2 && args[0] == "-C" {
		at = 2
	}
	if len(args) > at && args[at] == "test" {
		graph := filepath.Join(dir, fmt.Sprintf("graph-%d.json", os.Getpid()))
		args = slices.Insert(slices.Clone(args), at+1, "-debug-actiongraph="+graph, "-exec="+filepath.Join(dir, "exec"))
	}
	return syscall.Exec(program, append([]string{"go"}, args...), os.Environ()) //nolint:gosec // the arguments are those of this process
}

// runTest runs a test binary, stores what it has cost, and returns its exit code. The go command
// starts each test in the folder of its package.
func runTest(dir string, command []string) int {
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // as above
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "testcosts:", err)
		return 1
	}
	if err := note(dir, cpu(cmd.ProcessState)); err != nil {
		fmt.Fprintln(os.Stderr, "testcosts:", err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

// note stores what a test of the package in the working directory has cost.
func note(dir string, spent time.Duration) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	pkg, err := filepath.Rel(os.Getenv(rootVariable), folder)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "run-*.json")
	if err != nil {
		return err
	}
	return errors.Join(json.NewEncoder(file).Encode(ran{Package: filepath.ToSlash(pkg), CPU: spent}), file.Close())
}

// cpu returns the processor time of a process that has ended, and of its children.
func cpu(s *os.ProcessState) time.Duration { return s.UserTime() + s.SystemTime() }
