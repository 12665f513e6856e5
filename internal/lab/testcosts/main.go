// Command testcosts measures how many seconds of processor a run of tests takes, by package: to
// compile, to link and to run.
//
//	go run ./internal/lab/testcosts -cold -save=after.json make test
//	go run ./internal/lab/testcosts -before=before.json -after=after.json
//
// The first form runs a command whose tests are started by the go command in $GO, as in our
// Makefile. With -cold the build cache is empty at the beginning. The second form prints two
// measurements beside each other.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	switch dir := os.Getenv(dirVariable); {
	case dir != "" && filepath.Base(os.Args[0]) == "go":
		fail(becomeGo(dir, os.Args[1:]))
	case dir != "" && filepath.Base(os.Args[0]) == "exec":
		os.Exit(runTest(dir, os.Args[1:]))
	}
	cold := flag.Bool("cold", false, "begin with an empty build cache")
	save := flag.String("save", "", "the file for what is measured")
	before := flag.String("before", "", "a file that -save has written, for the first columns")
	after := flag.String("after", "", "a file that -save has written, in place of a command")
	flag.Parse()
	now, err := measurement(*after, *cold, flag.Args())
	fail(err)
	if *save != "" {
		fail(now.save(*save))
	}
	var then costs
	if *before != "" {
		then, err = load(*before)
		fail(err)
	}
	fmt.Print(table(then, now))
}

// measurement loads a file, or runs a command.
func measurement(file string, cold bool, command []string) (costs, error) {
	switch {
	case file != "":
		return load(file)
	case len(command) == 0:
		return nil, errors.New("give a command, such as make test, or a file with -after")
	}
	dir, err := os.MkdirTemp("", "testcosts")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	failed := runCommand(dir, cold, command)
	got, err := collect(dir)
	if failed == nil || err != nil {
		return got, errors.Join(failed, err)
	}
	if len(got) == 0 {
		return nil, failed
	}
	fmt.Fprintln(os.Stderr, "testcosts: a test has failed:", failed)
	return got, nil
}

// runCommand runs a command in whose environment $GO is this program.
func runCommand(dir string, cold bool, command []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, name := range []string{"go", "exec"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // the command is the point; an interrupt reaches it
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), dirVariable+"="+dir, rootVariable+"="+root, "GO="+filepath.Join(dir, "go"))
	if cold {
		cmd.Env = append(cmd.Env, "GOCACHE="+filepath.Join(dir, "cache"))
	}
	return cmd.Run()
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcosts:", err)
		os.Exit(1)
	}
}
