package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// database is the module with the Go vulnerability database: what vuln.go.dev has, from the module
// proxy.
const database = "golang.org/x/vulndb"

// standard is the path by which findings name the standard library.
const standard = "stdlib"

// A finding is what govulncheck says of a known vulnerability.
type finding struct {
	OSV   string
	Fixed string `json:"fixed_version"`
	Trace []struct{ Module, Version, Package, Function string }
}

// called reports whether the program calls what is vulnerable.
func (f finding) called() bool { return f.Trace[0].Function != "" }

// imported reports whether the program imports the package of what is vulnerable.
func (f finding) imported() bool { return f.Trace[0].Package != "" }

func (f finding) standard() bool { return f.Trace[0].Module == standard }

func (f finding) String() string {
	fixed := "no version mends it"
	if f.Fixed != "" {
		fixed = f.Fixed + " mends it"
	}
	return fmt.Sprintf("%s in %s@%s; %s; https://pkg.go.dev/vuln/%s", f.OSV, f.Trace[0].Module, f.Trace[0].Version, fixed, f.OSV)
}

// A scanner runs govulncheck.
type scanner struct{ program, database string }

// newScanner gets a version of the database and builds govulncheck in the folder dir.
func newScanner(ctx context.Context, dir, version string) (scanner, error) {
	said, err := output(ctx, dir, "go", "mod", "download", "-json", database+"@"+version)
	if err != nil {
		return scanner{}, err
	}
	var got struct{ Version, Dir string }
	if err := json.Unmarshal([]byte(said), &got); err != nil {
		return scanner{}, err
	}
	fmt.Println("database:", database+"@"+got.Version)
	s := scanner{filepath.Join(dir, "govulncheck"), "file://" + filepath.ToSlash(got.Dir) + "/data/osv"}
	_, err = output(ctx, root, "go", "build", "-modfile=internal/tools/go.mod", "-o", s.program, "golang.org/x/vuln/cmd/govulncheck")
	return s, err
}

// scan returns what govulncheck finds in the module m, down to the level "package" or "symbol".
func (s scanner) scan(ctx context.Context, m Module, level string) ([]finding, error) {
	said, err := output(ctx, m.Dir, s.program, "-db", s.database, "-format", "json", "-scan", level, "./...")
	if err != nil {
		return nil, err
	}
	return findings(strings.NewReader(said))
}

// findings reads what govulncheck prints as JSON.
func findings(from io.Reader) ([]finding, error) {
	messages, err := decodeAll[struct{ Finding *finding }](from)
	var all []finding
	for _, m := range messages {
		if m.Finding != nil {
			all = append(all, *m.Finding)
		}
	}
	return all, err
}

// Vulnerabilities prints what a version of the database knows of what the published modules and the
// template depend on. It fails if one of them calls what is vulnerable. It only reports those of
// the standard library, which comes with the Go of each user. Which functions are called takes long
// to find out, so it asks for that only if a vulnerable package is imported.
func Vulnerabilities(ctx context.Context, modules []Module, dir, version string) error {
	s, err := newScanner(ctx, dir, version)
	if err != nil {
		return err
	}
	var library []finding
	var called []error
	for _, m := range modules {
		if !m.Published() && m.Name != template {
			continue
		}
		found, err := s.scan(ctx, m, "package")
		if err != nil {
			return err
		}
		if slices.ContainsFunc(found, func(f finding) bool { return f.imported() && !f.standard() }) {
			if found, err = s.scan(ctx, m, "symbol"); err != nil {
				return err
			}
		}
		library = append(library, slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return !f.standard() || !f.imported() })...)
		called = append(called, report(m, found)...)
	}
	if len(library) > 0 {
		fmt.Println(aboutGo(library))
	}
	return errors.Join(called...)
}

// report prints what is found in other modules and not called, and returns what is called.
func report(m Module, found []finding) []error {
	calls, others := map[string]finding{}, map[string]finding{}
	for _, f := range found {
		switch {
		case f.standard():
		case f.called():
			calls[f.OSV] = f
		default:
			others[f.OSV] = f
		}
	}
	for _, id := range slices.Sorted(maps.Keys(others)) {
		if _, known := calls[id]; !known {
			fmt.Printf("%s: not called: %v\n", m.Name, others[id])
		}
	}
	var called []error
	for _, id := range slices.Sorted(maps.Keys(calls)) {
		f := calls[id]
		called = append(called, fmt.Errorf("%s: %s.%s is called and vulnerable: %v", m.Name, f.Trace[0].Package, f.Trace[0].Function, f))
	}
	return called
}

// aboutGo says which version of Go mends what is found in the standard library.
func aboutGo(found []finding) string {
	ids, mended := map[string]bool{}, ""
	for _, f := range found {
		ids[f.OSV] = true
		if semver.Compare(f.Fixed, mended) > 0 {
			mended = f.Fixed
		}
	}
	return fmt.Sprintf("Go %s, with which this was checked, has known vulnerabilities in packages that programs import; Go %s mends them: %s",
		strings.TrimPrefix(found[0].Trace[0].Version, "v"), strings.TrimPrefix(mended, "v"), strings.Join(slices.Sorted(maps.Keys(ids)), ", "))
}
