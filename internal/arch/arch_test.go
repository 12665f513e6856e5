package arch

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const module = "github.com/understudy-go/understudy"

func TestImportsRunOneWay(t *testing.T) {
	pkgs, err := Load(os.DirFS("../.."))
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(pkgs, func(p Package) bool { return p.Path == "internal/arch" }),
		"this very package is among those that are checked")
	for _, violation := range Check(module, pkgs) {
		t.Error(violation)
	}
}

func TestCheckFindsWhatIsForbidden(t *testing.T) {
	tests := []struct {
		name string
		pkg  Package
		want []string
	}{
		{
			name: "an import that runs upwards",
			pkg:  Package{Path: "actor", Imports: []string{"context", module + "/cluster"}},
			want: []string{"actor must not import " + module + "/cluster: of ours it may import internal/*"},
		},
		{
			name: "an import that runs sideways",
			pkg:  Package{Path: "persistence/journal", Imports: []string{module + "/persistence/sqlite"}},
			want: []string{"persistence/journal must not import " + module + "/persistence/sqlite: " +
				"of ours it may import internal/*"},
		},
		{
			name: "an import of a leaf",
			pkg:  Package{Path: "cluster/internal/phi", Imports: []string{module + "/internal/codec"}},
			want: []string{"cluster/internal/phi must not import " + module + "/internal/codec: it may import nothing of ours"},
		},
		{
			name: "an internal package that knows the runtime",
			pkg:  Package{Path: "internal/frame", Imports: []string{module + "/actor", module + "/internal/codec"}},
			want: []string{"internal/frame must not import " + module + "/actor: of ours it may import internal/*"},
		},
		{
			name: "an import of the root",
			pkg:  Package{Path: "remote", Imports: []string{module}},
			want: []string{"remote must not import " + module + ": of ours it may import internal/*"},
		},
		{
			name: "a package without a place",
			pkg:  Package{Path: "utils", Imports: []string{module + "/actor"}},
			want: []string{"utils has no place in the table of layers"},
		},
		{
			name: "memberlist outside the cluster, once though it is imported twice",
			pkg: Package{
				Path:        "remote",
				Imports:     []string{"github.com/hashicorp/memberlist"},
				TestImports: []string{"github.com/hashicorp/memberlist"},
			},
			want: []string{"remote must not import github.com/hashicorp/memberlist: " +
				"how membership spreads is the cluster's secret, and costs a program 3 MB"},
		},
		{
			name: "memberlist below the cluster",
			pkg:  Package{Path: "cluster/internal/phi", TestImports: []string{"github.com/hashicorp/memberlist"}},
			want: []string{"cluster/internal/phi must not import github.com/hashicorp/memberlist: " +
				"how membership spreads is the cluster's secret, and costs a program 3 MB"},
		},
		{
			name: "cbor outside the codec",
			pkg:  Package{Path: "remote", Imports: []string{"github.com/fxamacker/cbor/v2"}},
			want: []string{"remote must not import github.com/fxamacker/cbor/v2: " +
				"one package decides how values become bytes"},
		},
		{
			name: "a test framework in a package that programs use",
			pkg: Package{
				Path:    "singleton",
				Imports: []string{"github.com/stretchr/testify/require", "testing"},
			},
			want: []string{
				"singleton must not import testing: a program that uses us must not carry a test framework",
				"singleton must not import github.com/stretchr/testify/require: " +
					"a program that uses us must not carry a test framework",
			},
		},
		{
			name: "the standard library's loggers, in tests too",
			pkg:  Package{Path: "cluster", Imports: []string{"log/slog"}, TestImports: []string{"log"}},
			want: []string{
				"cluster must not import log: a library logs to the logger that it is given, which is zap's",
				"cluster must not import log/slog: a library logs to the logger that it is given, which is zap's",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, violation := range Check(module, []Package{test.pkg}) {
				got = append(got, violation.String())
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestCheckAllowsWhatTheTablesAllow(t *testing.T) {
	require.Empty(t, Check(module, []Package{
		{Path: "actor", Imports: []string{module + "/internal/codec", "go.uber.org/zap"}},
		{Path: "actor", TestImports: []string{module + "/testkit", module + "/behavior", "testing/synctest"}},
		{Path: "behavior", Imports: []string{module + "/singleton", module + "/persistence"}},
		{Path: "cluster", Imports: []string{module + "/cluster/internal/phi", "github.com/hashicorp/memberlist"}},
		{Path: "examples/failover", Imports: []string{module + "/cluster", "log", "logr"}},
		{Path: "internal/codec", Imports: []string{"github.com/fxamacker/cbor/v2"}},
		{Path: "persistence/journaltest", Imports: []string{
			module + "/persistence/journal", "testing", "github.com/stretchr/testify/require",
		}},
		{Path: "testkit/clustertest", Imports: []string{module + "/cluster", "testing"}},
	}))
}

func TestTheTableOfLayersRunsDownThePage(t *testing.T) {
	line := map[string]int{}
	for _, l := range layers {
		for _, p := range l.places {
			require.NotContains(t, line, p.pkg, "layer %s places it once more", l.name)
			line[p.pkg] = len(line)
		}
	}
	for _, l := range layers {
		for _, p := range l.places {
			for _, imported := range p.imports {
				if imported == anything || imported == p.pkg {
					continue
				}
				require.Contains(t, line, imported, "what %s may import", p.pkg)
				require.Greater(t, line[imported], line[p.pkg], "%s may import %s", p.pkg, imported)
			}
		}
	}
}

func TestLoadReadsEveryGoFileOfTheModule(t *testing.T) {
	file := func(source string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(source)} }
	pkgs, err := Load(fstest.MapFS{
		"go.mod":                  file("module m"),
		"doc.go":                  file("package m"),
		"a/a.go":                  file("package a\nimport (\n_ \"embed\"\nc \"context\"\n)\nvar _ c.Context"),
		"a/a_windows.go":          file("//go:build windows\n\npackage a\nimport \"context\"\nimport \"syscall\""),
		"a/a_test.go":             file("package a\nimport \"testing\""),
		"a/example_test.go":       file("package a_test\nimport \"fmt\"\nimport \"m/a\""),
		"a/_old.go":               file("not Go"),
		"a/.#a.go":                file("not Go"),
		"a/README.md":             file("not Go"),
		"a/testdata/broken.go":    file("not Go"),
		".git/hook.go":            file("not Go"),
		"_attic/b.go":             file("not Go"),
		"internal/tools/go.mod":   file("module m/tools"),
		"internal/tools/tools.go": file("not Go"),
	})
	require.NoError(t, err)
	require.Equal(t, []Package{
		{Path: "."},
		{
			Path:        "a",
			Imports:     []string{"context", "embed", "syscall"},
			TestImports: []string{"fmt", "m/a", "testing"},
		},
	}, pkgs)
}

func TestLoadNamesTheFileThatItCannotRead(t *testing.T) {
	_, err := Load(fstest.MapFS{"a/a.go": {Data: []byte("not Go")}})
	require.ErrorContains(t, err, "load packages: a/a.go:1:1")
}
