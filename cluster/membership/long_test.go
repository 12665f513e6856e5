package membership

import "testing"

// atLength skips a test that simulates machines for seconds, when it is under the race
// detector: it has one goroutine, and would take minutes. make test runs it without.
func atLength(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("one goroutine cannot race: run it without -race")
	}
}
