package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// A table is lines of cells; the first line is the head.
type table [][]string

// markdown returns the table for a page. Figures are aligned to the right.
func (t table) markdown() string {
	var b strings.Builder
	for i, line := range t {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(padded(line, len(t[0])), " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|---|%s\n", strings.Repeat("--:|", len(line)-1))
		}
	}
	return b.String()
}

// text returns the table for a terminal.
func (t table) text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, line := range t {
		_, _ = fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	_ = w.Flush() // a strings.Builder does not fail
	return b.String()
}

func padded(line []string, cells int) []string {
	return append(slices.Clip(line), make([]string, cells-len(line))...)
}
