// Package page replaces the figures of a page of docs by those that a program has measured.
package page

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// end is the line of a page behind its figures.
const end = "<!-- end of the figures -->\n"

// Replace replaces what is between the line begin, which ends with a line feed, and the line "end
// of the figures" of a file.
func Replace(file, begin, figures string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if page, err = replaced(page, begin, figures); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, page, 0o644) //nolint:gosec // a page for all to read
}

func replaced(page []byte, begin, figures string) ([]byte, error) {
	head, rest, ok := bytes.Cut(page, []byte(begin))
	if !ok {
		return nil, fmt.Errorf("there is no line %q", strings.TrimSpace(begin))
	}
	_, tail, ok := bytes.Cut(rest, []byte(end))
	if !ok {
		return nil, fmt.Errorf("there is no line %q", strings.TrimSpace(end))
	}
	return fmt.Appendf(nil, "%s%s\n%s\n\n%s%s", head, begin, strings.TrimRight(figures, "\n"), end, tail), nil
}
