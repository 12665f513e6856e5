package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ours is the path of the root module, and of what is below it.
const ours = "github.com/understudy-go/understudy"

// Names under which packages of others are counted.
const (
	standard = "the standard library"
	others   = "modules of others"
)

// A cost is how much processor time a package takes, in seconds.
type cost struct{ Compile, Link, Run float64 }

func (c cost) total() float64 { return c.Compile + c.Link + c.Run }

func (c *cost) add(d cost) {
	c.Compile += d.Compile
	c.Link += d.Link
	c.Run += d.Run
}

// costs has a cost for each package, by its path below the root module.
type costs map[string]cost

func (c costs) add(pkg string, d cost) {
	sum := c[pkg]
	sum.add(d)
	c[pkg] = sum
}

func (c costs) sum() (all cost) {
	for _, each := range c {
		all.add(each)
	}
	return all
}

// An action is a part of what a go test does, as -debug-actiongraph writes it.
type action struct {
	Mode, Package   string
	CmdUser, CmdSys time.Duration
}

// collect adds up the files that the processes of a measurement have stored.
func collect(dir string) (costs, error) {
	all := costs{}
	err := each(filepath.Join(dir, "graph-*.json"), func(actions []action) {
		for _, a := range actions {
			all.count(a)
		}
	})
	if err != nil {
		return nil, err
	}
	err = each(filepath.Join(dir, "run-*.json"), func(r ran) { all.add(r.Package, cost{Run: r.CPU.Seconds()}) })
	return all, err
}

// count adds what an action has cost. The tests of a package and its test binary count for the
// package.
func (c costs) count(a action) {
	seconds := (a.CmdUser + a.CmdSys).Seconds()
	if seconds == 0 {
		return
	}
	pkg := place(a.Package)
	if a.Mode == "link" {
		c.add(pkg, cost{Link: seconds})
		return
	}
	c.add(pkg, cost{Compile: seconds})
}

// place returns the name under which a package is counted.
func place(path string) string {
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".test"), "_test")
	if below, ok := strings.CutPrefix(path, ours+"/"); ok {
		return below
	}
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		return others
	}
	return standard
}

// each reads all files of a pattern.
func each[T any](pattern string, use func(T)) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, file := range files {
		v, err := read[T](file)
		if err != nil {
			return err
		}
		use(v)
	}
	return nil
}

func read[T any](file string) (v T, err error) {
	text, err := os.ReadFile(file) //nolint:gosec // a path that the user gives
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return v, err
}

func load(file string) (costs, error) { return read[costs](file) }

func (c costs) save(file string) error {
	text, err := json.MarshalIndent(c, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}
