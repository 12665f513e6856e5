package docs

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// A setting is one row of a table.
type setting struct {
	name, doc      string
	params         string // of an option, in parentheses
	isBool, option bool
	values         []string // the defaults in the code, one for each column; "" where it has none
}

// render returns the table.
func (s settingsTable) render(t *testing.T, known sources) string {
	t.Helper()
	p := parsePackage(t, s.dir)
	var b strings.Builder
	b.WriteString("| name | default |")
	for _, preset := range s.presets {
		b.WriteString(" `" + preset + "()` |")
	}
	b.WriteString(" what it does |\n|---|---|" + strings.Repeat("---|", len(s.presets)) + "---|\n")
	settings := p.fields(t, s, known)
	if settings == nil {
		settings = p.options(s)
	}
	require.NotEmpty(t, settings, s.title)
	for _, one := range settings {
		if slices.Contains(s.omit, one.name) {
			continue
		}
		what, byDefault := one.told()
		byDefault = constant.ReplaceAllStringFunc(byDefault, func(name string) string {
			v, ok := known.of(t, s.dir).vars[strings.Trim(name, "`")]
			if !ok {
				return name
			}
			return cmp.Or(human(t, known, s.dir, v.expr), name)
		})
		values := one.values
		if len(values) == 0 {
			values = []string{""}
		}
		values[0] = cmp.Or(values[0], byDefault)
		if values[0] == "" {
			t.Errorf("%s: the comment of %s.%s does not say what the default is", s.dir, s.of, one.name)
		}
		fmt.Fprintf(&b, "| `%s%s` | %s | %s |\n", one.name, one.params, strings.Join(values, " | "), what)
	}
	return b.String()
}

type parsedPackage struct {
	dir   string
	fset  *token.FileSet
	files []*ast.File
}

func parsePackage(t *testing.T, dir string) *parsedPackage {
	t.Helper()
	p := &parsedPackage{dir: dir, fset: token.NewFileSet()}
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(p.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		p.files = append(p.files, file)
	}
	return p
}

func (p *parsedPackage) print(n ast.Node) string {
	var b bytes.Buffer
	_ = printer.Fprint(&b, p.fset, n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// structOf returns the struct of that name, or nil.
func (p *parsedPackage) structOf(name string) *ast.StructType {
	for _, file := range p.files {
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				if typ, ok := spec.(*ast.TypeSpec); ok && typ.Name.Name == name {
					found, _ := typ.Type.(*ast.StructType)
					return found
				}
			}
		}
	}
	return nil
}

// fields returns the exported fields of the struct of a table, or nil if the table has options.
func (p *parsedPackage) fields(t *testing.T, table settingsTable, known sources) []setting {
	t.Helper()
	structType := p.structOf(table.of)
	if structType == nil {
		return nil
	}
	values := p
	if table.values != "" {
		values = parsePackage(t, table.values)
	}
	columns := []map[string]string{values.defaults(t, table.of, cmp.Or(table.defaults, "withDefaults"), known)}
	for _, preset := range table.presets {
		columns = append(columns, values.defaults(t, table.of, preset, known))
	}
	all := []setting{}
	for _, field := range structType.Fields.List {
		doc := cmp.Or(field.Doc.Text(), field.Comment.Text())
		if of, name, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(doc), "see ["), "]"), "."); ok && strings.HasPrefix(doc, "see [") {
			doc = p.docOf(of, name)
		}
		for _, name := range field.Names {
			if !name.IsExported() {
				continue
			}
			one := setting{name: name.Name, doc: doc, isBool: p.print(field.Type) == "bool"}
			for _, column := range columns {
				one.values = append(one.values, column[name.Name])
			}
			all = append(all, one)
		}
	}
	return all
}

func (p *parsedPackage) docOf(of, name string) string {
	for _, field := range p.structOf(of).Fields.List {
		if slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return id.Name == name }) {
			return field.Doc.Text()
		}
	}
	return ""
}

// options returns the functions that return the type of a table, and those that it names.
func (p *parsedPackage) options(table settingsTable) []setting {
	var all []setting
	for _, file := range p.files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() || f.Type.Results == nil || len(f.Type.Results.List) != 1 {
				continue
			}
			if f.Recv == nil && p.print(f.Type.Results.List[0].Type) == table.of || slices.Contains(table.extra, f.Name.Name) {
				params := strings.TrimPrefix(p.print(&ast.FuncType{Params: f.Type.Params}), "func")
				all = append(all, setting{name: f.Name.Name, params: params, doc: f.Doc.Text(), option: true})
			}
		}
	}
	slices.SortFunc(all, func(a, b setting) int { return cmp.Compare(a.name, b.name) })
	return all
}

// defaults returns the values that a function gives to fields, as people write them. It leaves out
// those that depend on other fields.
func (p *parsedPackage) defaults(t *testing.T, of, function string, known sources) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, file := range p.files {
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Name.Name != function || f.Recv != nil && !isMethodOf(f, of) {
				continue
			}
			set := func(name string, value ast.Expr) {
				if v := human(t, known, p.dir, value); v != "" && values[name] == "" {
					values[name] = v
				}
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.CallExpr: // cmp.Or(c.Field, value), setDefault(&c.Field, value)
					if len(x.Args) == 2 {
						set(fieldName(x.Args[0]), x.Args[1])
					}
				case *ast.IfStmt: // if c.Field == 0 { c.Field = value }
					if assign, ok := x.Body.List[0].(*ast.AssignStmt); ok && len(assign.Lhs) == 1 {
						set(fieldName(assign.Lhs[0]), assign.Rhs[0])
					}
				case *ast.KeyValueExpr: // Detector{Field: value}
					if key, ok := x.Key.(*ast.Ident); ok {
						set(key.Name, x.Value)
					}
				}
				return true
			})
		}
	}
	return values
}

func isMethodOf(f *ast.FuncDecl, of string) bool {
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if index, ok := typ.(*ast.IndexListExpr); ok {
		typ = index.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.Name == of
}

// fieldName returns the name of the field that an expression selects, or "".
func fieldName(x ast.Expr) string {
	if unary, ok := x.(*ast.UnaryExpr); ok {
		x = unary.X
	}
	selector, ok := x.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if _, direct := selector.X.(*ast.Ident); !direct {
		return ""
	}
	return selector.Sel.Name
}

var (
	durations = map[string]string{"Nanosecond": "ns", "Microsecond": "µs", "Millisecond": "ms", "Second": "s", "Minute": "min", "Hour": "h"}
	binary    = map[string]string{"10": "KiB", "20": "MiB", "30": "GiB"}
)

// human returns the value of a constant expression as people write it, or "".
func human(t *testing.T, known sources, dir string, x ast.Expr) string {
	t.Helper()
	switch x := x.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			return "`" + x.Value + "`"
		}
		return thousands(strings.ReplaceAll(x.Value, "_", ""))
	case *ast.SelectorExpr:
		if unit := durations[x.Sel.Name]; unit != "" && fmt.Sprint(x.X) == "time" {
			return "1 " + unit
		}
	case *ast.Ident:
		p := known.of(t, dir)
		if v, ok := p.vars[x.Name]; ok {
			return human(t, known, dir, v.expr)
		}
	case *ast.BinaryExpr:
		n, isLiteral := x.X.(*ast.BasicLit)
		if unit, ok := x.Y.(*ast.SelectorExpr); ok && isLiteral && x.Op == token.MUL && durations[unit.Sel.Name] != "" {
			return n.Value + " " + durations[unit.Sel.Name]
		}
		if shift, ok := x.Y.(*ast.BasicLit); ok && isLiteral && x.Op == token.SHL && binary[shift.Value] != "" {
			return n.Value + " " + binary[shift.Value]
		}
	}
	return ""
}

// thousands puts commas into a number of more than four digits.
func thousands(number string) string {
	if _, err := strconv.Atoi(number); err != nil {
		return number
	}
	for i := len(number) - 3; i > 0 && len(number) > 3; i -= 3 {
		number = number[:i] + "," + number[i:]
	}
	return number
}

var (
	defaultIs = []*regexp.Regexp{
		regexp.MustCompile(`^The default, (?:nil|""|0), (.+)$`),
		regexp.MustCompile(`^Default: (.+)$`),
		regexp.MustCompile(`(?:[Tt]he|whose|and the) defaults? (?:is|are) (.+)$`),
		regexp.MustCompile(`^By default,? (.+)$`),
		regexp.MustCompile(`by default,? (.+)$`),
		regexp.MustCompile(`(?:^|; |, )(?:Zero|zero|0|Nil|nil|Empty|empty|False|A zero value|No value|"")(?:, the default,)? (?:means|is|stands for|are) (.+)$`),
		regexp.MustCompile(`^(?:Zero|Nil|Empty|False) (.+)$`),
		regexp.MustCompile(`^Without (?:it|this option|them)(?:, and with nil)?,? (.+)$`),
		regexp.MustCompile(`^The zero Backoff (.+)$`),
	}
	// defaultClause is the end of a sentence that repeats the column of defaults.
	defaultClause = regexp.MustCompile(`; the default is [^:;]+\.$`)
	required      = regexp.MustCompile(`(?i)^(it is )?required\b|is required$`)
)

const (
	enough       = 50 // bytes of a first sentence that stands alone
	shortDefault = 60 // bytes of what an option says about its absence, unless it is not shown
)

// told returns the first sentence of the comment, or the first two if the first is short, and the
// default that the comment names. The sentences do not repeat the name of the setting, and not the
// default.
func (s setting) told() (what, byDefault string) {
	paragraphs := strings.Split(s.doc, "\n\n")
	var shown []string
	best, full := len(defaultIs), false
	for i, paragraph := range paragraphs {
		for _, sentence := range commentSentences(strings.Join(strings.Fields(paragraph), " ")) {
			if found, how := s.defaultOf(sentence); found != "" {
				if how < best {
					best, byDefault = how, found
				}
				if len(shown) > 0 {
					continue
				}
			}
			full = full || len(shown) > 1 || len(shown) == 1 && (len(shown[0]) > enough || len(sentence) > enough)
			if i == 0 && !full {
				shown = append(shown, defaultClause.ReplaceAllString(sentence, "."))
			}
		}
	}
	switch {
	case byDefault != "":
	case s.isBool:
		byDefault = "off"
	case s.option:
		byDefault = "—"
	}
	return markdown(s.unnamed(strings.Join(shown, " "))), markdown(byDefault)
}

// unnamed returns a text without the name of the setting at its beginning.
func (s setting) unnamed(text string) string {
	rest, named := strings.CutPrefix(text, s.name+" ")
	if !named || strings.HasPrefix(rest, "and ") {
		return text
	}
	for _, verb := range []string{"is ", "are "} {
		rest = strings.TrimPrefix(rest, verb)
	}
	first, size := utf8.DecodeRuneInString(rest)
	return string(unicode.ToUpper(first)) + rest[size:]
}

// defaultOf returns the default that a sentence names, and the index of the pattern that has found
// it: the first patterns are the most certain.
func (s setting) defaultOf(sentence string) (byDefault string, how int) {
	sentence = strings.TrimSuffix(sentence, ".")
	if required.MatchString(sentence) {
		return "required", 0
	}
	for i, pattern := range defaultIs {
		m := pattern.FindStringSubmatch(sentence)
		if m == nil {
			continue
		}
		text, _, _ := strings.Cut(m[len(m)-1], "; ")
		text, _, _ = strings.Cut(text, ", see ")
		text = strings.TrimPrefix(strings.TrimPrefix(text, "it "), "is ")
		conditional := strings.HasPrefix(pattern.String(), "^By") || strings.HasPrefix(pattern.String(), "^Without")
		switch {
		case s.isBool:
			text = "off"
		case s.option && conditional && len(text) > shortDefault:
			text = "—"
		}
		return text, i
	}
	return "", 0
}

// commentSentences splits a paragraph of a comment at full stops that a capital or a digit follows.
func commentSentences(paragraph string) []string {
	var all []string
	for {
		i := strings.Index(paragraph, ". ")
		for i >= 0 && i+2 < len(paragraph) && !strings.ContainsAny(paragraph[i+2:i+3], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789[") {
			next := strings.Index(paragraph[i+1:], ". ")
			if next < 0 {
				i = -1
				break
			}
			i += 1 + next
		}
		if i < 0 {
			break
		}
		all, paragraph = append(all, paragraph[:i+1]), paragraph[i+2:]
	}
	if paragraph != "" {
		all = append(all, paragraph)
	}
	return all
}

var (
	docLink  = regexp.MustCompile(`\[(\*?[A-Za-z][\w.]*)\]`)
	constant = regexp.MustCompile("`Default\\w+`")
)

// markdown turns the text of a comment into the text of a cell.
func markdown(text string) string {
	text = docLink.ReplaceAllString(text, "`$1`")
	parts := strings.Split(text, "`")
	for i := range parts {
		if i%2 == 0 {
			parts[i] = strings.NewReplacer("*", `\*`, "|", `\|`, "<", "&lt;").Replace(parts[i])
		}
	}
	return strings.Join(parts, "`")
}
