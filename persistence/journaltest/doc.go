// Package journaltest checks that a journal obeys the laws of [journal.Journal] and
// [journal.SnapshotStore]: one test function of a store runs them all.
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
// What the interfaces cannot do (opening again, a second handle, damage, a full disk) the
// store offers in [Features]. A law whose hook is missing is skipped by name, with the
// reason; so is one of snapshots, of queries or of hints for a journal without them. Run
// prints what it skips, and fails unless [Features].Skipped says the same: no store loses a
// law unnoticed, nor keeps an excuse that it no longer needs.
//
// Each law is a subtest and gets a journal of its own. Laws on concurrency run for real,
// without a pause anywhere; run them with -race. One law compares random operations with
// the journal in memory: it prints its seed, and [Features] takes it back.
//
// The longest history that is replayed has 5,000 events; a flag makes it longer:
//
//	go test ./persistence/sqlite -run 'Laws/ALongHistory' -v -journaltest.events=1000000
//
// Processes, kill -9 and torn files are the business of each store's own tests: how they
// fail, no interface can say.
package journaltest
