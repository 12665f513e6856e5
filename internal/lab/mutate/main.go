// Command mutate makes mistakes in the code, one at a time, and runs the tests that should find
// each: make mutate. Mutants that no test finds, the survivors, are listed at the end.
//
// A mistake is made in a copy of its file, which the compiler takes in place of the file
// (-overlay), so nothing in the working directory changes.
//
// The exit code is 0 when all mutants were found, and 1 when some survived. It is 2 when a mutant
// does not compile, or does not apply any more because its line has changed. Such a mutant proves
// nothing: fix it in mutants.go.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/effort"
)

// An outcome is what has become of a mutant.
type outcome string

const (
	found    outcome = "found"
	survived outcome = "SURVIVED"
	broken   outcome = "BROKEN"
)

func main() {
	only := flag.String("run", "", "only mutants whose names match this regular expression")
	root := flag.String("root", ".", "the root of the repository")
	timeout := flag.Duration("timeout", 10*time.Minute, "for the tests of one mutant; one that takes longer is found")
	flag.Parse()
	os.Exit(run(*root, *only, *timeout))
}

// run tries the mutants whose names match, and returns the exit code.
func run(root, only string, timeout time.Duration) int {
	match, err := regexp.Compile(only)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	count := map[outcome][]string{}
	for _, m := range mutants {
		if !match.MatchString(m.Name) {
			continue
		}
		begin := time.Now()
		what, detail := try(root, m, timeout)
		fmt.Printf("%-8s  %5.0fs  %s%s\n", what, time.Since(begin).Seconds(), m.Name, detail)
		count[what] = append(count[what], m.Name)
	}
	fmt.Printf("%d found, %d survived, %d broken\n", len(count[found]), len(count[survived]), len(count[broken]))
	for _, what := range []outcome{survived, broken} {
		for _, name := range count[what] {
			fmt.Printf("%s: %s\n", what, name)
		}
	}
	switch {
	case len(count[broken]) > 0 || len(count[found])+len(count[survived]) == 0:
		return 2
	case len(count[survived]) > 0:
		return 1
	}
	return 0
}

// apply returns the source of the file of a mutant with the mistake in it.
func (m mutant) apply(root string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(source), m.Old); n != 1 {
		return nil, fmt.Errorf("%q is %d times in %s, and should be there once", m.Old, n, m.File)
	}
	return []byte(strings.Replace(string(source), m.Old, m.New, 1)), nil
}

// try runs the tests of a mutant.
func try(root string, m mutant, timeout time.Duration) (what outcome, detail string) {
	overlay, remove, err := m.overlay(root)
	if err != nil {
		return broken, ": " + err.Error()
	}
	defer remove()
	packages := strings.Fields(m.Packages)
	for i, p := range packages {
		packages[i] = "./" + p
	}
	if out, err := command(root, append([]string{"test", "-overlay=" + overlay, "-run=^$", "-vet=off"}, packages...)...); err != nil {
		return broken, ": it does not compile:\n" + out
	}
	args := append([]string{"test", "-overlay=" + overlay, "-count=1", "-failfast", "-vet=off", "-timeout=" + timeout.String()}, packages...)
	if _, err := command(root, args...); err == nil {
		return survived, ""
	}
	return found, ""
}

// overlay writes the changed file, and the overlay file for the compiler.
func (m mutant) overlay(root string) (path string, remove func(), err error) {
	source, err := m.apply(root)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "understudy-mutant-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	original, err := filepath.Abs(filepath.Join(root, m.File))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "mutant.go"), source, 0o600)
	}
	if err == nil {
		var text []byte
		text, err = json.Marshal(map[string]map[string]string{"Replace": {original: filepath.Join(dir, "mutant.go")}})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600)
		}
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return filepath.Join(dir, "overlay.json"), remove, nil
}

func command(root string, args ...string) (out string, err error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), effort.Variable+"=verify")
	text, err := cmd.CombinedOutput()
	return string(text), err
}
