package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the part of docs/dependencies.md that is made")

// dependencies are those of all modules that users get, and of the template.
type dependencies struct {
	licences map[string]string   // by module
	linked   []string            // the modules that are linked into programs
	programs map[string][]string // for each direct dependency, the modules that link it
	tests    map[string][]string // for each direct dependency, the modules in which only tests need it
}

func readDependencies(t *testing.T) dependencies {
	t.Helper()
	all := dependencies{map[string]string{}, nil, map[string][]string{}, map[string][]string{}}
	for _, m := range mustLoad(t, root) {
		if m.Published() || m.Name == template {
			all.read(t, m)
		}
	}
	slices.Sort(all.linked)
	all.linked = slices.Compact(all.linked)
	return all
}

func (all *dependencies) read(t *testing.T, m Module) {
	t.Helper()
	linked, err := Linked(t.Context(), m)
	require.NoError(t, err)
	require.Contains(t, linked, m.Path())
	for _, d := range sorted(linked) {
		if !isOurs(d.Path) && d.Path != m.Path() {
			all.readLicence(t, d.Path, d.Dir)
			all.linked = append(all.linked, d.Path)
		}
	}
	for _, r := range m.File.Require {
		name := "`" + strings.TrimPrefix(path.Join(path.Base(rootPath), m.Name), path.Base(rootPath)+"/") + "`"
		switch {
		case r.Indirect || isOurs(r.Mod.Path):
		case linked[r.Mod.Path] != nil:
			all.programs[r.Mod.Path] = append(all.programs[r.Mod.Path], name)
		default:
			all.tests[r.Mod.Path] = append(all.tests[r.Mod.Path], name)
			all.readLicence(t, r.Mod.Path, folder(t, m, r.Mod.Path))
		}
	}
}

func (all *dependencies) readLicence(t *testing.T, path, dir string) {
	t.Helper()
	if all.licences[path] != "" {
		return
	}
	licence, err := Licence(dir)
	require.NoError(t, err)
	require.NoError(t, CheckLicence(path, licence))
	all.licences[path] = licence
}

// folder returns where the files of a module are that m requires.
func folder(t *testing.T, m Module, path string) string {
	t.Helper()
	said, err := output(t.Context(), m.Dir, "go", "list", "-m", "-json", path)
	require.NoError(t, err)
	var found struct{ Dir string }
	require.NoError(t, json.Unmarshal([]byte(said), &found))
	return found.Dir
}

// rows returns the beginnings of the rows of the first table, without the last column.
func (all dependencies) rows() []string {
	var rows []string
	names := maps.Clone(all.programs)
	maps.Copy(names, all.tests)
	for _, path := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, fmt.Sprintf("| [`%[1]s`](https://pkg.go.dev/%[1]s) | %[2]s | %[3]s | %[4]s | ", path, all.licences[path],
			strings.Join(all.programs[path], ", "), strings.Join(all.tests[path], ", ")))
	}
	return rows
}

// list returns the table of all that is linked.
func (all dependencies) list() string {
	var b strings.Builder
	b.WriteString("\n| module | licence |\n|---|---|\n")
	for _, path := range all.linked {
		fmt.Fprintf(&b, "| `%s` | %s |\n", path, all.licences[path])
	}
	return b.String()
}

func TestThePageOfDependenciesIsTrue(t *testing.T) {
	file := filepath.Join(root, "docs/dependencies.md")
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	written, made, found := strings.Cut(string(page), "-update -->\n")
	require.True(t, found)

	all := readDependencies(t)
	var missing []string
	for _, row := range all.rows() {
		if !regexp.MustCompile("(?m)^" + regexp.QuoteMeta(row) + `\S.* \|$`).MatchString(written) {
			missing = append(missing, row)
		}
	}
	require.Empty(t, missing, "add each of these rows to the first table, with a reason at its end")
	require.Len(t, regexp.MustCompile("(?m)^\\| \\[`").FindAllString(written, -1), len(all.rows()), "a row of the first table is about a module that nothing requires")

	if *update {
		require.NoError(t, os.WriteFile(file, []byte(written+"-update -->\n"+all.list()), 0o644))
		return
	}
	require.Equal(t, all.list(), made, "go -C internal/lab/release test -run PageOfDependencies -update writes it")
}

func TestOnlyKnownLicencesAreAllowed(t *testing.T) {
	for name, text := range map[string]string{"none": "", "unknown": "Ask us before you use this.\n"} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"a.go": "package a\n"}
			if text != "" {
				files["LICENSE"] = text
			}
			_, err := Licence(write(t, files))
			require.ErrorContains(t, err, "licence")
		})
	}
	ours, err := Licence(root)
	require.NoError(t, err)
	require.Equal(t, "Apache-2.0", ours)

	require.NoError(t, CheckLicence("example.com/a", "Apache-2.0 AND MIT"))
	require.NoError(t, CheckLicence("github.com/hashicorp/memberlist", "MPL-2.0"))
	require.ErrorContains(t, CheckLicence("example.com/a", "MPL-2.0"), "use another module")
	require.ErrorContains(t, CheckLicence("example.com/a", "AGPL-3.0 AND MIT"), "use another module")
}

func TestNoticesAreFoundBesideLicences(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"LICENSE", "NOTICE", "notice.txt", "noticed.go"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	licences, err := LicenceFiles(dir)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "LICENSE")}, licences)
	notices, err := NoticeFiles(dir)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "NOTICE"), filepath.Join(dir, "notice.txt")}, notices)
}
