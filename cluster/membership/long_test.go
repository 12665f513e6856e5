package membership

import "testing"

// atLength skips a test that simulates machines for seconds when it runs under the race
// detector. The test has one goroutine, and would take minutes. make test runs it without the
// race detector.
func atLength(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("one goroutine cannot race: run it without -race")
	}
}
