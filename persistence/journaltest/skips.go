package journaltest

import (
	"slices"
	"strings"
	"testing"
)

// skips compares the laws that a store skips with the laws that it is known to skip. Its lines have
// the form of [Features.Skipped].
type skips struct {
	pinned []string
	noted  []string
	ran    []string // the names of the laws that -run selects
	failed []string // the laws among them that failed, so that it is unknown whether they would be skipped
}

func (s *skips) note(law, reason string) { s.noted = append(s.noted, law+": "+reason) }

func (s *skips) report(t *testing.T) {
	t.Helper()
	t.Logf("%d laws, %d of them skipped%s", len(s.ran), len(s.noted), listed(s.noted))
	if more := s.unpinned(); len(more) > 0 {
		t.Errorf("laws are skipped that Features.Skipped does not have: lend Run what they need or, if this store cannot, add%s", listed(more))
	}
	if fewer := s.outdated(); len(fewer) > 0 {
		t.Errorf("these laws are not skipped any more, or not for this reason, or do not exist: take out of Features.Skipped%s", listed(fewer))
	}
}

func (s *skips) unpinned() []string {
	return slices.DeleteFunc(slices.Clone(s.noted), func(line string) bool { return slices.Contains(s.pinned, line) })
}

// outdated returns the pinned lines that no longer hold: the law does not exist, was not skipped,
// or was skipped for another reason.
func (s *skips) outdated() []string {
	return slices.DeleteFunc(slices.Clone(s.pinned), func(line string) bool {
		name, _, _ := strings.Cut(line, ":")
		return slices.Contains(s.noted, line) || slices.Contains(s.failed, name) || isLaw(name) && !slices.Contains(s.ran, name)
	})
}

func isLaw(name string) bool {
	return slices.ContainsFunc(laws(), func(l law) bool { return l.name == name })
}

func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

func listed(lines []string) string { return strings.Join(append([]string{""}, lines...), "\n") }
