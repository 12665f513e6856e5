package walkthrough

import (
	"regexp"
	"strings"
)

// A shell says this of the jobs that it starts and ends.
var notice = regexp.MustCompile(`(?m)^\[\d+\] \d+\n|^\[\d+\][-+]? +(Done|Exit|Killed|Running|Terminated)\b.*\n|^.*line \d+: +\d+ (Killed|Terminated)\b.*\n`)

// Matches reports whether an output is as a page says. In want, … stands for any text within a
// line, and a line of it alone for any number of lines. Spaces at the ends of lines do not count.
func Matches(got, want string) bool {
	var pattern strings.Builder
	pattern.WriteString(`(?s)^`)
	for line := range strings.Lines(strings.TrimSpace(want) + "\n") {
		line = strings.TrimRight(line, " \t\n")
		if line == "…" {
			pattern.WriteString(`(?:[^\n]*\n)*`)
			continue
		}
		for i, part := range strings.Split(line, "…") {
			if i > 0 {
				pattern.WriteString(`[^\n]*`)
			}
			pattern.WriteString(regexp.QuoteMeta(part))
		}
		pattern.WriteString(`[ \t]*\n`)
	}
	pattern.WriteString(`$`)
	got = strings.TrimSpace(notice.ReplaceAllString(got+"\n", "")) + "\n"
	return regexp.MustCompile(pattern.String()).MatchString(got)
}
