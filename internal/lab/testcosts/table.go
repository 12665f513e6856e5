package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// few is below what a package costs, before and after, to have no row of its own, in seconds.
const few = 10

// table returns two measurements beside each other, the most expensive packages first. Without
// the first one it has the columns of the second only.
func table(before, after costs) string {
	var text strings.Builder
	text.WriteString("| package | compile | link | run | all |\n|---|--:|--:|--:|--:|\n")
	if before != nil {
		text.Reset()
		text.WriteString("| package | compile | link | run | all | before: compile | link | run | all |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	}
	row := func(name string, then, now cost) {
		text.WriteString("| " + name + " | " + cells(now))
		if before != nil {
			text.WriteString(" | " + cells(then))
		}
		text.WriteString(" |\n")
	}
	most := func(pkg string) float64 { return max(before[pkg].total(), after[pkg].total()) }
	names := map[string]bool{}
	for _, c := range []costs{before, after} {
		for pkg := range c {
			names[pkg] = true
		}
	}
	sorted := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(most(b), most(a)), cmp.Compare(a, b))
	})
	var rest [2]cost
	n := 0
	for _, pkg := range sorted {
		if most(pkg) >= few {
			row(code(pkg), before[pkg], after[pkg])
			continue
		}
		rest[0].add(before[pkg])
		rest[1].add(after[pkg])
		n++
	}
	row(fmt.Sprintf("%d others", n), rest[0], rest[1])
	row("**all**", before.sum(), after.sum())
	return text.String()
}

// code returns the name of a row. Packages of ours are set as code.
func code(name string) string {
	if name == standard || name == others {
		return name
	}
	return "`" + name + "`"
}

func cells(c cost) string {
	return fmt.Sprintf("%.0f | %.0f | %.0f | %.0f", c.Compile, c.Link, c.Run, c.total())
}
