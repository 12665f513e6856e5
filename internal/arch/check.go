package arch

import (
	"fmt"
	"slices"
	"strings"
)

// A Violation is an import that the architecture forbids, or a package that it does not know.
type Violation struct {
	Package string // below the module's root
	Import  string // as the file spells it; empty when the package has no place
	Why     string
}

// String returns the violation as a sentence.
func (v Violation) String() string {
	if v.Import == "" {
		return fmt.Sprintf("%s %s", v.Package, v.Why)
	}
	return fmt.Sprintf("%s must not import %s: %s", v.Package, v.Import, v.Why)
}

// Check returns the violations of the packages of a module, in the order of the packages, or nil.
func Check(module string, pkgs []Package) []Violation {
	var found []Violation
	for _, pkg := range pkgs {
		found = append(found, checkPlace(module, pkg)...)
		found = append(found, checkReservations(pkg)...)
	}
	return found
}

// checkPlace checks the imports of our own packages.
func checkPlace(module string, pkg Package) []Violation {
	place, ok := placeOf(pkg.Path)
	if !ok {
		return []Violation{{Package: pkg.Path, Why: "has no place in the table of layers"}}
	}
	var found []Violation
	for _, imported := range pkg.Imports {
		path, ours := below(module, imported)
		if ours && !matchesAny(place.imports, path) {
			found = append(found, Violation{pkg.Path, imported, mayImport(place)})
		}
	}
	return found
}

func mayImport(p place) string {
	if len(p.imports) == 0 {
		return "it may import nothing of ours"
	}
	return "of ours it may import " + strings.Join(p.imports, ", ")
}

// checkReservations checks the imports from outside.
func checkReservations(pkg Package) []Violation {
	var found []Violation
	for _, r := range reservations {
		if matchesAny(r.only, pkg.Path) {
			continue
		}
		for _, imported := range reservedImports(r, pkg) {
			found = append(found, Violation{pkg.Path, imported, r.why})
		}
	}
	return found
}

// reservedImports returns the imports of pkg that r applies to, each once.
func reservedImports(r reservation, pkg Package) []string {
	imports := slices.Clone(pkg.Imports)
	if !r.tests {
		imports = append(imports, pkg.TestImports...)
	}
	slices.Sort(imports)
	return slices.DeleteFunc(slices.Compact(imports), func(imported string) bool {
		_, reserved := below(r.imports, imported)
		return !reserved
	})
}

// below returns path relative to root, with "." for root itself, and whether it is below root.
func below(root, path string) (string, bool) {
	if path == root {
		return ".", true
	}
	return strings.CutPrefix(path, root+"/")
}

func matchesAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, path) })
}

func matches(pattern, path string) bool {
	if pattern == anything {
		return true
	}
	if root, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(path, root+"/")
	}
	return pattern == path
}
