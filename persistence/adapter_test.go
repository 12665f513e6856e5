package persistence_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// uttered is the stored form of said since version 2; before that, words were stored in capitals.
// shouted is even older, and its type no longer exists.
type uttered struct{ Text string }

func init() { actor.RegisterType[uttered]("persistence_test.uttered") }

func toUttered(s said) (any, int) { return uttered{s.Word}, 2 }

func fromUttered(s persistence.StoredEvent) ([]said, error) {
	switch s.Type {
	case "persistence_test.uttered":
		stored, err := s.Value()
		if err != nil {
			return nil, err
		}
		text := stored.(uttered).Text
		if s.Version < 2 {
			text = strings.ToLower(text)
		}
		return []said{{text}}, nil
	case "persistence_test.shouted":
		var old struct{ First, Second string }
		if err := s.Decode(&old); err != nil {
			return nil, err
		}
		return []said{{old.First}, {old.Second}}, nil
	case "persistence_test.coughed":
		return nil, nil
	}
	return persistence.Unchanged[said](s)
}

var adapters = options{ToJournal: toUttered, FromJournal: fromUttered}

// Old events are brought up to date, one is left out, and one is two.
func TestEventsOfAllTimesAreReplayed(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"})
		w.store("persistence_test.shouted", map[string]string{"First": "b", "Second": "c"})
		w.store("persistence_test.coughed", 7)
		w.store("persistence_test.uttered", uttered{"D"})
		for _, want := range []string{"[abcd]", "[abcdE]"} {
			ref := w.spawn(adapters)
			ref.Tell(recall(w.to))
			ref.Tell(say(w.to, "E"))
			w.expect(want, "E")
			w.stop(ref)
		}
		records := w.journal.sent()
		require.Equal(w, "persistence_test.uttered", records[0].Records[0].Type)
		require.Equal(w, map[string]string{"version": "2"}, records[0].Records[0].Meta)
		require.EqualValues(w, 5, records[0].Records[0].Seq, "each record has one number, whatever it stands for")
	})
}

// An event type that is never stored itself needs no name.
func TestWhatIsStoredIsWhatMustBeRegistered(t *testing.T) {
	type heard struct{ word string }
	inBubble(t, func(w *world) {
		b := persistence.New("x", w.journal, "", func(all string, h heard) string { return all + h.word },
			func(_ *actor.Context[string], all string, word string) persistence.Effect[heard] {
				return persistence.ThenReply(persistence.Persist(heard{word}), w.to, all)
			},
			persistence.Options[string, heard, string]{ToJournal: func(h heard) (any, int) { return h.word, 0 }, FromJournal: func(s persistence.StoredEvent) ([]heard, error) {
				word, err := persistence.Unchanged[string](s)
				return []heard{{strings.Join(word, "")}}, err
			}})
		for _, want := range []string{"", "ab"} {
			ref := actor.Spawn(w.system, b, "")
			ref.Tell("a")
			w.expect(want)
			ref.Tell("b")
			w.expect(want + "a")
			synctest.Wait()
		}
		require.Nil(w, w.journal.sent()[0].Records[0].Meta, "version 0 is none")
	})
}

func TestWhatCannotBeAdaptedFailsRecovery(t *testing.T) {
	for want, adapt := range map[string]func(s persistence.StoredEvent) ([]said, error){
		"not today":           func(persistence.StoredEvent) ([]said, error) { return []said{{"x"}}, errors.New("not today") },
		"boom":                func(persistence.StoredEvent) ([]said, error) { panic("boom") },
		"stored is a string":  persistence.Unchanged[said],
		"decode a stored str": func(s persistence.StoredEvent) ([]said, error) { return nil, s.Decode(new(int)) },
	} {
		t.Run(want, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.store("string", "a")
				failure := w.failsToRecover(options{FromJournal: adapt})
				require.ErrorContains(w, failure, want)
				require.Zero(w, failure.Seq)
			})
		})
	}
}

func TestAVersionThatIsNoNumberFailsRecovery(t *testing.T) {
	inBubble(t, func(w *world) {
		claim, err := w.journal.Claim(w.Context(), "words", journal.WriterID{}, journal.Bounds{})
		require.NoError(w, err)
		require.NoError(w, w.journal.Append(w.Context(), []journal.AppendRequest{{ID: "words", Epoch: claim.Epoch, Records: []journal.Record{
			{Seq: 1, Epoch: claim.Epoch, Type: "string", Payload: []byte{0x61, 'a'}, Meta: map[string]string{"version": "x"}},
		}}})[0])
		require.ErrorContains(w, w.failsToRecover(adapters), `version "x"`)
	})
}

type newWord struct{ Text string }

func init() { actor.RegisterType[newWord]("adapter-test.new-word") }

// The event could be stored, but never recovered.
func TestWhatOnlyFromJournalCouldReadIsRejectedWithoutIt(t *testing.T) {
	inBubble(t, func(w *world) {
		toNew := options{ToJournal: func(s said) (any, int) { return newWord{s.Word}, 2 }}
		ref, failures := w.mortal(words(w.journal, toNew))
		ref.Tell(say(w.to, "a"))
		var rejected *persistence.RejectedError
		failure := failures.Receive()
		require.ErrorAs(w, failure, &rejected)
		require.ErrorContains(w, failure, "give the behavior FromJournal, too")
		require.Empty(w, w.events())
	})
}

func TestAPanicInAnAdapterStoresNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		ref, failures := w.mortal(words(w.journal, options{ToJournal: func(said) (any, int) { panic("boom") }}))
		ref.Tell(say(w.to, "a"))
		var panicked *actor.PanicError
		require.ErrorAs(w, failures.Receive(), &panicked)
		require.Empty(w, w.events())
	})
}

// The state is the one that the event has led to.
func TestEventsAreTaggedByWhatTheyHaveLedTo(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{Tags: func(heard string, s said) []string {
			if len(heard) > 2 {
				return []string{"long", s.Word}
			}
			return nil
		}})
		ref.Tell(say(w.to, "a", "b", "c"))
		ref.Tell(say(w.to, "d"))
		w.stop(ref)
		var tags [][]string
		for r, err := range w.journal.Memory.Read(w.Context(), "words", 1, 10) {
			require.NoError(w, err)
			tags = append(tags, r.Tags)
		}
		require.Equal(w, [][]string{nil, nil, {"long", "c"}, {"long", "d"}}, tags)
	})
}
