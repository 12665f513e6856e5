package journaltest_test

import (
	"testing"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
	"github.com/understudy-go/understudy/persistence/memory"
)

// The one test that every journal has.
func ExampleRun() {
	testJournalObeysTheLaws := func(t *testing.T) {
		journaltest.Run(t, func(*testing.T) journal.Journal { return memory.New() }, journaltest.Features{})
	}
	_ = testJournalObeysTheLaws // a function TestJournalObeysTheLaws in your own test file
}
