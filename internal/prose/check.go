package prose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckGo returns the findings in the comments of a Go file and, unless it is a test, in the texts
// of its errors and logs.
func CheckGo(file string, source []byte) ([]Finding, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, group := range tree.Comments {
		if output(group) {
			continue
		}
		line := fset.Position(group.Pos()).Line
		found = append(found, check(file, line, goText(group))...)
	}
	if !strings.HasSuffix(file, "_test.go") {
		found = append(found, checkLiterals(file, fset, tree)...)
	}
	return append(found, wideComments(file, fset, tree, strings.Split(string(source), "\n"))...), nil
}

// CheckMarkdown returns the findings in the text of a page. Code is left out; a cell of a table
// is a paragraph of its own.
func CheckMarkdown(file string, source []byte) []Finding {
	var found []Finding
	for _, p := range paragraphs(string(source)) {
		found = append(found, check(file, p.line, p.text)...)
	}
	return found
}

func check(file string, line int, text string) []Finding {
	var found []Finding
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		for _, sentence := range sentences(paragraph) {
			for _, r := range rules {
				for _, words := range r.find(sentence) {
					found = append(found, Finding{file, line, r.name, words})
				}
			}
		}
		line += strings.Count(paragraph, "\n") + 2
	}
	return found
}

var sql = regexp.MustCompile(`^\s*(CREATE|INSERT|SELECT|WITH|UPDATE|DELETE|DO)\b`)

// Shorter ones are no prose.
func checkLiterals(file string, fset *token.FileSet, tree *ast.File) []Finding {
	var found []Finding
	ast.Inspect(tree, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(lit.Value); err == nil && len(strings.Fields(text)) >= 3 && !sql.MatchString(text) {
			found = append(found, check(file, fset.Position(lit.Pos()).Line, text)...)
		}
		return true
	})
	return found
}

func output(group *ast.CommentGroup) bool {
	text := group.Text()
	return strings.HasPrefix(text, "Output:") || strings.HasPrefix(text, "Unordered output:")
}

// The words are without markers, directives and indented code.
func goText(group *ast.CommentGroup) string {
	var b strings.Builder
	for line := range strings.SplitSeq(group.Text(), "\n") {
		switch {
		case strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    "):
			b.WriteString("\n") // code, or a table
		case strings.HasPrefix(strings.TrimSpace(line), "- "), strings.HasPrefix(line, "# "):
			b.WriteString("\n\n" + line + "\n")
		default:
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// A line with a link, or one word, cannot be broken.
func wideComments(file string, fset *token.FileSet, tree *ast.File, lines []string) []Finding {
	var found []Finding
	for _, group := range tree.Comments {
		if output(group) {
			continue
		}
		for _, c := range group.List {
			line := fset.Position(c.Pos()).Line
			text := lines[line-1]
			if !strings.HasPrefix(strings.TrimSpace(text), "// ") || strings.Contains(text, "://") || width(text) <= maxWidth {
				continue
			}
			found = append(found, Finding{file, line, widthRule, strings.TrimSpace(text)})
		}
	}
	return found
}

func width(line string) int {
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
}

type paragraph struct {
	line int
	text string
}

var bullet = regexp.MustCompile(`^\s*([-*]|\d+\.)\s`)

func paragraphs(page string) []paragraph {
	var (
		all  []paragraph
		now  paragraph
		code bool
	)
	end := func() {
		if now.text != "" {
			all = append(all, now)
		}
		now = paragraph{}
	}
	for i, line := range strings.Split(page, "\n") {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence:
			end()
			code = !code
		case code:
		case strings.HasPrefix(line, "|"):
			end()
			for cell := range strings.SplitSeq(line, "|") {
				all = append(all, paragraph{i + 1, strings.TrimSpace(cell)})
			}
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, "    "):
			end()
		default:
			if bullet.MatchString(line) {
				end()
			}
			if now.text == "" {
				now.line = i + 1
			}
			now.text += line + "\n"
		}
	}
	end()
	return all
}

var inlineCode = regexp.MustCompile("`[^`\n]*`")

// sentences splits at full stops, question and exclamation marks that a capital letter, a digit or
// the end follows. Code counts as one word.
func sentences(paragraph string) []string {
	text := inlineCode.ReplaceAllString(paragraph, "code")
	text = strings.Join(strings.Fields(text), " ")
	var all []string
	start := 0
	for i, r := range text {
		if !strings.ContainsRune(".?!", r) {
			continue
		}
		rest := strings.TrimLeft(text[i+1:], ")\"*_”")
		if rest != "" && (rest[0] != ' ' || !begins(rest[1:])) {
			continue
		}
		if sentence := strings.TrimSpace(text[start : i+1]); sentence != "" {
			all = append(all, sentence)
		}
		start = i + 1
	}
	if sentence := strings.TrimSpace(text[start:]); sentence != "" {
		all = append(all, sentence)
	}
	return all
}

func begins(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, "([*_\"“"))
	return !unicode.IsLower(r)
}
