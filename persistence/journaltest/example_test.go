package journaltest_test

import (
	"testing"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
)

// The one test that every journal has.
func ExampleRun() {
	testJournalObeysTheLaws := func(t *testing.T) {
		journaltest.Run(t, func(*testing.T) journal.Journal { return journal.NewMemory() }, journaltest.Features{})
	}
	_ = testJournalObeysTheLaws // a function TestJournalObeysTheLaws in your own test file
}
