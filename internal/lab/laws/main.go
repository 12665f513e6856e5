// Command laws lists the tests that take from internal/effort how much they do: the heavy laws.
//
//	go run ./internal/lab/laws                    each with its counts in make test, make verify and make long
//	go run ./internal/lab/laws names verify       those that do more in make verify than in make test
//	go run ./internal/lab/laws packages verify    the packages of the root module that have any of these
//
// In place of verify, long asks for those that do more in make long than in make verify. Unraced
// asks for those that do not run with the race detector. Names are printed as a regular expression
// for go test -run.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "laws:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	laws, err := find(".")
	if err != nil {
		return err
	}
	if len(args) == 0 {
		for _, l := range laws {
			if len(l.counts) == 0 {
				continue
			}
			fmt.Printf("%s: %s: %s\n", l.file, l.test, strings.Join(l.counts, ", "))
		}
		return nil
	}
	if len(args) != 2 {
		return fmt.Errorf("%q: give names or packages, and verify, long or unraced", args)
	}
	kinds := map[string]func(law) bool{
		"verify":  func(l law) bool { return l.verify },
		"long":    func(l law) bool { return l.long },
		"unraced": func(l law) bool { return l.unraced },
	}
	isOne, ok := kinds[args[1]]
	if !ok {
		return fmt.Errorf("%q is neither verify nor long nor unraced", args[1])
	}
	laws = slices.DeleteFunc(laws, func(l law) bool { return !isOne(l) })
	switch args[0] {
	case "names":
		fmt.Printf("^(%s)$\n", strings.Join(each(laws, func(l law) string { return l.test }), "|"))
	case "packages":
		fmt.Println(strings.Join(each(laws, func(l law) string { return rootPackage(filepath.Dir(l.file)) }), "\n"))
	default:
		return fmt.Errorf("%q is neither names nor packages", args[0])
	}
	return nil
}

// each returns what f returns of the laws, in order and once, without empty texts.
func each(laws []law, f func(law) string) []string {
	var all []string
	for _, l := range laws {
		if text := f(l); text != "" {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rootPackage returns a folder as an argument of the go command, or nothing if it is of another
// module.
func rootPackage(folder string) string {
	for at := folder; at != "."; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return ""
		}
	}
	return "./" + filepath.ToSlash(folder)
}
