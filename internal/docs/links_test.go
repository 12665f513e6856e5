package docs

import (
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// documents returns the paths of all documents, relative to the root.
func documents(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && (entry.Name() == "node_modules" || entry.Name() == "dist") {
			return filepath.SkipDir // where make site installs its tools
		}
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".md" {
			return err
		}
		document, err := filepath.Rel(root, file)
		all = append(all, filepath.ToSlash(document))
		return err
	})
	require.NoError(t, err)
	return all
}

var testLink = regexp.MustCompile("\\[`((?:Test|Fuzz)\\w+)`\\]\\(([^)]+)\\)")

// testsOf returns the names of the tests in a file.
func testsOf(t *testing.T, file string) map[string]bool {
	t.Helper()
	require.True(t, strings.HasSuffix(file, "_test.go"), file)
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			names[f.Name.Name] = true
		}
	}
	return names
}

func TestEveryTestThatADocumentNamesExists(t *testing.T) {
	known := map[string]map[string]bool{}
	counts := map[string]int{}
	for _, document := range documents(t) {
		for _, link := range testLink.FindAllStringSubmatch(read(t, document), -1) {
			name, file := link[1], path.Join(path.Dir(document), link[2])
			if known[file] == nil {
				known[file] = testsOf(t, file)
			}
			if !known[file][name] {
				t.Errorf("%s names %s, which is not in %s", document, name, file)
			}
			counts[document]++
		}
	}
	require.Greater(t, counts["docs/singleton.md"], 25)
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fenced  = regexp.MustCompile("(?s)```.*?```")
)

func TestEveryLinkOfADocumentLeadsSomewhere(t *testing.T) {
	for _, document := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, document), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := document
			if file != "" {
				target = path.Join(path.Dir(document), file)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s leads to %s, which is not there", document, m[1])
				continue
			}
			if anchor != "" && !anchors(t, target)[anchor] {
				t.Errorf("%s leads to %s, but %s has no such heading", document, m[1], target)
			}
		}
	}
}

// anchors returns the anchors of the headings of a document.
func anchors(t *testing.T, document string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(read(t, document), ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(m[1]))
		all[name] = true
	}
	return all
}

// In a doc comment, such a link that leads nowhere shows its brackets.
var danglingLink = regexp.MustCompile(`(?:^|[^\w\]])\[\*?(?:[a-z]\w*\.)?[A-Z]\w*(?:\.[A-Z]\w*)*\]`)

func TestEveryLinkOfADocCommentLeadsSomewhere(t *testing.T) {
	for _, dir := range publicPackages(t) {
		for of, text := range docComments(t, filepath.Join(root, dir)) {
			require.NotRegexp(t, danglingLink, text, "%s: %s", dir, of)
		}
	}
}

// docComments returns the doc comments of what a package exports, without links that lead somewhere
// and without code.
func docComments(t *testing.T, dir string) map[string]string {
	t.Helper()
	pkg, err := build.ImportDir(dir, 0)
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
	}
	docs, err := doc.NewFromFiles(fset, files, dir)
	require.NoError(t, err)
	texts := map[string]string{"the package": docs.Doc}
	values := func(all []*doc.Value) {
		for _, v := range all {
			texts[strings.Join(v.Names, ", ")] = v.Doc
		}
	}
	functions := func(all []*doc.Func) {
		for _, f := range all {
			texts[f.Recv+"."+f.Name] = f.Doc
		}
	}
	values(slices.Concat(docs.Consts, docs.Vars))
	functions(docs.Funcs)
	for _, typ := range docs.Types {
		texts[typ.Name] = typ.Doc
		values(slices.Concat(typ.Consts, typ.Vars))
		functions(slices.Concat(typ.Funcs, typ.Methods))
	}
	for of, text := range texts {
		texts[of] = plain(docs.Parser().Parse(text).Content...)
	}
	return texts
}

func plain(blocks ...comment.Block) string {
	var all strings.Builder
	for _, b := range blocks {
		switch b := b.(type) {
		case *comment.Paragraph:
			for _, text := range b.Text {
				if p, ok := text.(comment.Plain); ok {
					all.WriteString(string(p))
				}
			}
			all.WriteString("\n")
		case *comment.List:
			for _, item := range b.Items {
				all.WriteString(plain(item.Content...))
			}
		}
	}
	return all.String()
}
