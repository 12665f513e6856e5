package docs

import "testing"

func TestEveryTestThatTheCasesOfSingletonsNameExists(t *testing.T) {
	mustExist(t, "docs/singleton-cases.md", 15)
}

// The fifteen, and the groups of two lists of cases that are about singletons.
func TestEveryCaseOfSingletonsHasATestOrAReason(t *testing.T) {
	rows := numbered(t, read(t, "docs/singleton-cases.md"))
	mustCover(t, rows, [][2]int{{1, 15}, {88, 144}, {167, 188}, {247, 307}})
}
