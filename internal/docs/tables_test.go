package docs

import (
	"regexp"
	"strings"
	"testing"
)

// A pipe in code is no border of a cell.
var inlineCode = regexp.MustCompile("`[^`]*`")

func TestEachRowOfATableHasAsManyCellsAsItsHead(t *testing.T) {
	for _, document := range documents(t) {
		head := 0
		for line := range strings.Lines(fenced.ReplaceAllString(read(t, document), "")) {
			row := strings.ReplaceAll(inlineCode.ReplaceAllString(line, "code"), `\|`, "")
			cells := len(cellsOf(row))
			switch {
			case cells == 0:
				head = 0
			case head == 0:
				head = cells
			case cells != head:
				t.Errorf("%s: a row has %d cells, and the head of its table %d: %s", document, cells, head, line)
			}
		}
	}
}
