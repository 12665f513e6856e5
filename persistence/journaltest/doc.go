// Package journaltest tests a store against the contract of package journal. One test function of
// the store runs all laws:
//
//	func TestJournalObeysTheLaws(t *testing.T) {
//		journaltest.Run(t, func(t *testing.T) journal.Journal {
//			j, err := mystore.Open(filepath.Join(t.TempDir(), "journal"))
//			require.NoError(t, err)
//			t.Cleanup(func() { _ = j.Close() })
//			return j
//		}, journaltest.Features{MaxPayload: mystore.MaxPayload})
//	}
//
// This package is experimental: a minor release may change it.
//
// [Features] has hooks for operations that the interfaces lack, such as reopening, damage and a
// full disk. Run skips a law if its hook is missing, or if it needs snapshots or queries and the
// journal does not have them. It prints the skipped laws with the reasons, and fails unless they
// equal Features.Skipped.
//
// Each law is a subtest with a journal of its own. Concurrent laws run in real time; run them with
// -race. One law compares random operations with the journal in memory; it prints its seed, which
// Features accepts.
//
// The longest replayed history has 5,000 events; a flag makes it longer:
//
//	go test ./persistence/sqlite -run 'Laws/ALongHistory' -v -journaltest.events=1000000
//
// Test processes, kill -9 and torn files in the store's own tests.
package journaltest
