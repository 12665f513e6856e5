package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var stabilityRow = regexp.MustCompile("(?m)^\\| \\[`(\\S+)`\\]\\(\\.\\./(\\S+)\\) \\| (stable|experimental) \\| ")

// internal/tools/api-check reads the same rows.
func TestTheTableOfStabilityNamesThePublicPackages(t *testing.T) {
	var named []string
	for _, row := range stabilityRow.FindAllStringSubmatch(read(t, "docs/stability.md"), -1) {
		require.Equal(t, row[1], row[2], "the link of a package")
		named = append(named, row[1])
	}
	require.Greater(t, len(named), 30)
	require.Equal(t, publicPackages(t), named)
}

func TestExactlyTheExperimentalPackagesSayThatTheyAre(t *testing.T) {
	for _, row := range stabilityRow.FindAllStringSubmatch(read(t, "docs/stability.md"), -1) {
		_, doc := packageClause(t, row[1])
		require.Equal(t, row[3] == "experimental", strings.Contains(doc, "\n\nThis package is experimental: "), row[1])
	}
}

// publicPackages returns the packages that programs can import, in order.
func publicPackages(t *testing.T) []string {
	t.Helper()
	public := slices.DeleteFunc(packages(t), func(dir string) bool {
		if isInternal(dir) || strings.HasPrefix(dir, "examples/") || hasTestsOnly(dir) {
			return true
		}
		name, _ := packageClause(t, dir)
		return name == "main"
	})
	slices.Sort(public)
	return public
}

// hasTestsOnly reports whether a folder is one of the modules with the tests of another, which are
// not published.
func hasTestsOnly(dir string) bool {
	return isModule(dir) && strings.HasSuffix(dir, "test")
}

// packageClause returns the name and the comment of the package in a folder.
func packageClause(t *testing.T, dir string) (name, doc string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		var parsed *ast.File
		parsed, err = parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		require.NoError(t, err)
		name, doc = parsed.Name.Name, doc+parsed.Doc.Text()
	}
	require.NotEmpty(t, name, dir)
	return name, doc
}
