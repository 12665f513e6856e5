package persistence_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// stored is what actors have stored under a persistence id.
type stored struct {
	ID       string
	Records  []journal.Record
	Snapshot *journal.Snapshot `json:",omitempty"` // the events up to it are deleted
}

// storedBy returns what actors of this build have stored under id.
func storedBy(t *testing.T, id string, act func(w *world)) []byte {
	t.Helper()
	all := stored{ID: id}
	inWaitingBubble(t, func(w *world) {
		act(w)
		synctest.Wait()
		s, ok, _, err := w.journal.Memory.LoadSnapshot(w.Context(), id, 1<<62)
		require.NoError(w, err)
		if ok {
			all.Snapshot = &s
		}
		for r, err := range w.journal.Memory.Read(w.Context(), id, s.Seq+1, 1<<62) {
			require.NoError(w, err)
			all.Records = append(all.Records, r)
		}
	})
	data, err := json.MarshalIndent(all, "", "\t")
	require.NoError(t, err)
	return append(data, '\n')
}

// put puts what an earlier build has stored into an empty journal.
func put(t *testing.T, j *journal.Memory, data []byte) {
	t.Helper()
	var all stored
	require.NoError(t, json.Unmarshal(data, &all))
	claim, err := j.Claim(t.Context(), all.ID, journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	records := all.Records
	for seq := all.Records[0].Seq - 1; seq > 0; seq-- { // events whose content does not matter
		records = append([]journal.Record{{Seq: seq, Epoch: claim.Epoch, Type: "persistence_test.gone"}}, records...)
	}
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{{ID: all.ID, Epoch: claim.Epoch, Records: records}})[0])
	if all.Snapshot != nil {
		require.NoError(t, j.SaveSnapshot(t.Context(), all.ID, *all.Snapshot))
	}
	if gone := all.Records[0].Seq - 1; gone > 0 {
		require.NoError(t, j.DeleteTo(t.Context(), all.ID, claim.Epoch, gone))
	}
}

func TestEventsAndSnapshotsOfAllVersionsAreRead(t *testing.T) {
	actorOf := options{ToJournal: toUttered, FromJournal: fromUttered, Tags: func(string, said) []string { return []string{"red"} }, SnapshotEvery: 3, DeleteEvents: true}
	data := golden.File(t, "events-1.json", func() []byte {
		return storedBy(t, "words", func(w *world) {
			ref := w.spawn(actorOf)
			for _, word := range []string{"a", "b", "c", "d", "e"} {
				ref.Tell(say(w.to, word))
				w.replies.Expect(word)
			}
		})
	})
	inBubble(t, func(w *world) {
		put(w.T, w.journal.Memory, data)
		ref := w.spawn(actorOf)
		ref.Tell(say(w.to, "f"))
		ref.Tell(recall(w.to))
		w.expect("f", "[abcdef]")
	})
}

func TestDurableStatesOfAllVersionsAreRead(t *testing.T) {
	written := golden.File(t, "state-1.json", func() []byte {
		return storedBy(t, "page-1", func(w *world) {
			ref := w.openPage(pageOptions{Tags: func(p page) []string { return []string{p.Text} }})
			for _, text := range []string{"one", "two"} {
				ref.Tell(writePage(w.to, text))
				w.replies.Expect(text)
			}
		})
	})
	deleted := golden.File(t, "deleted-state-1.json", func() []byte {
		return storedBy(t, "page-1", func(w *world) {
			ref := w.openPage()
			ref.Tell(writePage(w.to, "one"))
			ref.Tell(erasePage(w.to))
			w.replies.Expect("one")
			w.replies.Expect("erased")
		})
	})
	for want, data := range map[string][]byte{"2: two": written, "2: blank": deleted} {
		inBubble(t, func(w *world) {
			put(w.T, w.journal.Memory, data)
			w.openPage().Tell(showPage(w.to))
			w.replies.Expect(want)
		})
	}
}

func TestKeysOfCommandsOfAllVersionsAreKnown(t *testing.T) {
	opts := options{SnapshotEvery: 2, DeleteEvents: true}
	events := golden.File(t, "keys-1.json", func() []byte {
		return storedBy(t, "words", func(w *world) {
			ref := w.spawn(opts)
			for i, key := range []string{"a", "b", "c"} {
				ref.Tell(sayOnce(key, w.to, key))
				w.replies.Expect("abc"[:i+1])
			}
			ref.Tell(do(persistence.Once("silent", persistence.Persist(said{"d"}))))
			ref.Tell(sayOnce("e", w.to, "e"))
			w.expect("abcde")
		})
	})
	state := golden.File(t, "state-keys-1.json", func() []byte {
		return storedBy(t, "page-1", func(w *world) {
			ref := w.openPage()
			ref.Tell(writeOnce("1", w.to, "one"))
			ref.Tell(writePage(w.to, "two"))
			ref.Tell(writeOnce("3", w.to, "three"))
			w.expect("1: one", "two", "3: three")
		})
	})
	inBubble(t, func(w *world) {
		put(w.T, w.journal.Memory, events)
		ref := w.spawn(opts)
		letters := w.deadLetters()
		for i, key := range []string{"a", "b", "c"} {
			ref.Tell(sayOnce(key, w.to, "x"))
			w.expect("abc"[:i+1])
		}
		ref.Tell(sayOnce("silent", w.to, "x"))
		require.ErrorIs(w, letters.Receive().Reason, persistence.ErrKeyReused)
		ref.Tell(sayOnce("f", w.to, "f"))
		w.expect("abcdef")

		put(w.T, w.journal.Memory, state)
		page := w.openPage()
		page.Tell(writeOnce("1", w.to, "x"))
		page.Tell(writeOnce("3", w.to, "x"))
		page.Tell(writeOnce("4", w.to, "four"))
		w.expect("1: one", "3: three", "4: four")
	})
}
