// Compiletime prints what a type costs the compiler and the binary, for a program that uses
// Understudy:
//
//	make compile-cost
//
// With -peers it also compiles the program of messages for hollywood and protoactor, in the module
// of peerbench.
//
// The compiler instantiates package actor for each type of messages whose memory looks different. A
// method of a generic type becomes two functions for each of them, or four if its receiver is no
// pointer. A struct that is embedded in a generic one adds two for each of its methods.
//
// It compiles programs with few and with many types, whose package alone is not in the build cache.
// CPU seconds are user and system time of the compiler, the least of several runs; they bear load
// better than wall time, but not perfectly. The test of this package limits the functions, which
// are exact.
package main

import (
	"cmp"
	"debug/buildinfo"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"text/template"
)

//go:embed programs
var programs embed.FS

// A kind is what a program has several of.
type kind struct {
	name string
	many int // how many of them the slope is measured over, besides the first
}

var (
	kinds = []kind{{"message", 5}, {"reply", 9}, {"aggregate", 3}}
	peers = []kind{{"hollywood", 20}, {"protoactor", 20}} // the same as messages
)

// peersModule requires the peers, and this module.
const peersModule = "internal/lab/peerbench"

func main() {
	runs := flag.Int("runs", 3, "how often each program is compiled")
	beside := flag.Bool("peers", false, "also compile the program of messages for other libraries")
	flag.Parse()
	if *beside {
		kinds = append(kinds, peers...)
	}
	if err := run(*runs, *beside); err != nil {
		fmt.Fprintln(os.Stderr, "compiletime:", err)
		os.Exit(1)
	}
}

func run(runs int, beside bool) error {
	if beside {
		if err := os.Chdir(peersModule); err != nil {
			return err
		}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "\tCPU s\tfunctions\tKiB of the stripped binary\tmodules in it")
	for _, k := range kinds {
		var first, all cost
		for n, into := range map[int]*cost{1: &first, 1 + k.many: &all} {
			source, err := k.source(n)
			if err != nil {
				return err
			}
			if *into, err = measure(source, runs); err != nil {
				return err
			}
		}
		n := float64(k.many)
		_, _ = fmt.Fprintf(out, "%s, each further\t%.3f\t%.0f\t%.0f\t\n", k.name, (all.cpu-first.cpu)/n, float64(all.functions-first.functions)/n, float64(all.bytes-first.bytes)/n/1024)
		_, _ = fmt.Fprintf(out, "%s, the first\t%.2f\t%d\t%d\t%d\n", k.name, first.cpu, first.functions, first.bytes/1024, first.modules)
	}
	return out.Flush()
}

// source returns a program with n of a kind.
func (k kind) source(n int) (string, error) {
	t, err := template.New(k.name+".tmpl").Funcs(template.FuncMap{"next": func(i int) int { return i + 1 }}).ParseFS(programs, "programs/"+k.name+".tmpl")
	if err != nil {
		return "", err
	}
	var source strings.Builder
	err = t.Execute(&source, n)
	return source.String(), err
}

// A cost is what the compiler spends on the package of a program, and what it makes of it.
type cost struct {
	cpu       float64 // seconds
	functions int
	bytes     int64
	modules   int // whose packages the program has, without its own
}

// measure compiles a program so many times.
func measure(source string, runs int) (c cost, err error) {
	dir, err := os.MkdirTemp("", "compiletime")
	if err != nil {
		return c, err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(dir)) }()
	file, graph, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "graph"), filepath.Join(dir, "program")
	for i := range runs {
		if err := os.WriteFile(file, fmt.Appendf(nil, "%s\n// %d\n", source, rand.Int()), 0o600); err != nil {
			return c, err
		}
		if err := tool("build", "-debug-actiongraph="+graph, "-ldflags=-s -w", "-o", program, file); err != nil {
			return c, err
		}
		cpu, err := compiled(graph)
		if err != nil {
			return c, err
		}
		if i == 0 || cpu < c.cpu {
			c.cpu = cpu
		}
	}
	if c.functions, err = functions(file); err != nil {
		return c, err
	}
	info, err := os.Stat(program)
	if err != nil {
		return c, err
	}
	c.bytes = info.Size()
	built, err := buildinfo.ReadFile(program)
	if err == nil {
		c.modules = len(built.Deps)
	}
	return c, err
}

// compiled returns the CPU seconds of the compiler for the package of a program, from the graph of
// its build.
func compiled(graph string) (seconds float64, err error) {
	data, err := os.ReadFile(graph)
	if err != nil {
		return 0, err
	}
	var actions []struct {
		Mode, Package   string
		CmdUser, CmdSys int64 // nanoseconds
	}
	if err := json.Unmarshal(data, &actions); err != nil {
		return 0, err
	}
	for _, a := range actions {
		if a.Mode == "build" && a.Package == "command-line-arguments" {
			return float64(a.CmdUser+a.CmdSys) / 1e9, nil
		}
	}
	return 0, errors.New("the build has not compiled the program")
}

// functions returns how many functions the compiler makes for a program, without its imports.
func functions(file string) (int, error) {
	object, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", file).Output()
	if err != nil {
		return 0, err
	}
	symbols, err := exec.Command("go", "tool", "nm", strings.TrimSpace(string(object))).Output()
	return strings.Count(string(symbols), " T "), err
}

func tool(args ...string) error {
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w: %s", args[0], err, out)
	}
	return nil
}
