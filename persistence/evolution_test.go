package persistence_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// These tests check the rules of docs/event-sourcing.md for stored types that change. storedOnce
// encodes a value with its former type; today decodes it into the current type.

// storedOnce returns the bytes that a program with the type of old stored.
func storedOnce(t *testing.T, old any) []byte {
	t.Helper()
	data, err := codec.Marshal(old)
	require.NoError(t, err)
	return data
}

// today decodes stored bytes into the current type.
func today[T any](t *testing.T, data []byte) (now T, err error) {
	t.Helper()
	err = codec.Unmarshal(data, &now)
	return now, err
}

func TestAFieldThatIsAddedIsZeroInOldEvents(t *testing.T) {
	now, err := today[struct {
		Amount   int
		Currency string
		At       *time.Time
	}](t, storedOnce(t, struct{ Amount int }{5}))
	require.NoError(t, err)
	require.Equal(t, 5, now.Amount)
	require.Empty(t, now.Currency)
	require.Nil(t, now.At, "a pointer tells what was not there from what was zero")
}

func TestAFieldThatIsGoneIsPassedOver(t *testing.T) {
	now, err := today[struct{ Amount int }](t, storedOnce(t, struct {
		Amount int
		Note   map[string][]string
	}{5, map[string][]string{"a": {"b"}}}))
	require.NoError(t, err)
	require.Equal(t, 5, now.Amount)
}

// The same applies to an old program that reads the events of a newer one, in a rolling upgrade.
func TestAnOldProgramPassesOverFieldsOfANewerOne(t *testing.T) {
	TestAFieldThatIsGoneIsPassedOver(t)
}

func TestARenamedFieldIsAnotherFieldUnlessItsTagHasTheOldName(t *testing.T) {
	data := storedOnce(t, struct{ Amount int }{5})
	lost, err := today[struct{ Sum int }](t, data)
	require.NoError(t, err)
	require.Zero(t, lost.Sum, "no error says so")
	kept, err := today[struct {
		Sum int `cbor:"Amount"`
	}](t, data)
	require.NoError(t, err)
	require.Equal(t, 5, kept.Sum)
}

// Fields without cbor tags use the tags of encoding/json.
func TestATagForJSONRenamesTheStoredField(t *testing.T) {
	type tagged struct {
		UserName string `json:"user_name"`
	}
	data := storedOnce(t, struct{ UserName string }{"ann"})
	lost, err := today[tagged](t, data)
	require.NoError(t, err)
	require.Empty(t, lost.UserName)
	kept, err := today[struct {
		UserName string `cbor:"UserName" json:"user_name"`
	}](t, data)
	require.NoError(t, err)
	require.Equal(t, "ann", kept.UserName)
}

func TestUpperAndLowerCaseOfAFieldMayChange(t *testing.T) {
	now, err := today[struct {
		UserID int `cbor:"userId"`
	}](t, storedOnce(t, struct{ UserID int }{5}))
	require.NoError(t, err)
	require.Equal(t, 5, now.UserID)
}

func TestWhichTypesOfAFieldReadWhichOthers(t *testing.T) {
	type of[T any] struct{ V T }
	five := storedOnce(t, of[int]{5})
	for name, c := range map[string]struct {
		stored []byte
		into   func([]byte) (any, error)
		want   any // nil for an error
	}{
		"a wider int":                   {storedOnce(t, of[int8]{-5}), field[int64], int64(-5)},
		"a narrower int that holds it":  {five, field[int8], int8(5)},
		"a narrower int that does not":  {storedOnce(t, of[int]{500}), field[int8], nil},
		"an unsigned int":               {five, field[uint], uint(5)},
		"an unsigned int of a negative": {storedOnce(t, of[int]{-5}), field[uint], nil},
		"a float of an int":             {five, field[float64], 5.0},
		"an int of a float":             {storedOnce(t, of[float64]{5}), field[int], nil},
		"a string of an int":            {five, field[string], nil},
		"an int of a string":            {storedOnce(t, of[string]{"5"}), field[int], nil},
		"a named type of the same kind": {five, field[time.Duration], time.Duration(5)},
		"a slice of one":                {five, field[[]int], nil},
		"null into a value":             {storedOnce(t, of[*int]{nil}), field[int], 0},
		"bytes of a string":             {storedOnce(t, of[string]{"a"}), field[[]byte], nil},
		"a map of a struct":             {storedOnce(t, of[struct{ A int }]{}), field[map[string]int], map[string]int{"A": 0}},
		"a time of a string":            {storedOnce(t, of[string]{"2026-01-02T03:04:05Z"}), field[time.Time], time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	} {
		got, err := c.into(c.stored)
		if c.want == nil {
			require.Error(t, err, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
}

// field decodes a struct with a field V of type T, and returns it.
func field[T any](data []byte) (any, error) {
	var now struct{ V T }
	err := codec.Unmarshal(data, &now)
	return now.V, err
}

func TestAPointerReadsWhatWasAValue(t *testing.T) {
	now, err := today[struct{ V *int }](t, storedOnce(t, struct{ V int }{5}))
	require.NoError(t, err)
	require.Equal(t, 5, *now.V)
}

func TestUnexportedFieldsAreNotStoredAndNeedATag(t *testing.T) {
	type mixed struct {
		Kept int
		lost int
	}
	require.PanicsWithValue(t, "actor: RegisterType[persistence_test.mixed](\"mixed\"): the field lost of persistence_test.mixed is not exported, "+
		"so it would be lost on the wire and in journals; export it as Lost, or give the type methods MarshalCBOR and UnmarshalCBOR; "+
		"or, if each node may have it for itself, leave it out in the line of mixed: lost int `cbor:\"-\"`",
		func() { actor.RegisterType[mixed]("mixed") })
	now, err := today[mixed](t, storedOnce(t, mixed{1, 2}))
	require.NoError(t, err)
	require.Equal(t, mixed{Kept: 1}, now)

	type tagged struct {
		Kept  int
		cache int `cbor:"-"`
	}
	require.NotPanics(t, func() { actor.RegisterType[tagged]("tagged") })
	again, err := today[tagged](t, storedOnce(t, tagged{1, 2}))
	require.NoError(t, err)
	require.Equal(t, tagged{Kept: 1}, again)
}

// An enumeration is stored as its number.
func TestAConstantThatIsInsertedChangesTheMeaningOfWhatIsStored(t *testing.T) {
	type status int
	const shipped status = 1 // once: open, shipped
	const paid status = 1    // now: open, paid, shipped
	now, err := today[struct{ Status status }](t, storedOnce(t, struct{ Status status }{shipped}))
	require.NoError(t, err)
	require.Equal(t, paid, now.Status)
}

func TestAFieldOfAnInterfaceTypeHasWhatComesBackOrIsRefused(t *testing.T) {
	type detail struct{ N int }
	_, err := codec.Marshal(struct{ V any }{detail{5}})
	require.ErrorContains(t, err, "at .V: a persistence_test.detail in an interface")
	_, err = codec.Marshal(struct{ V fmt.Stringer }{time.Second})
	require.ErrorContains(t, err, "at .V: a time.Duration in a fmt.Stringer")

	whole := struct{ V any }{map[string]any{"n": int64(5), "of": []any{"a", 1.5, true, nil, []byte("b")}}}
	now, err := today[struct{ V any }](t, storedOnce(t, whole))
	require.NoError(t, err)
	require.Equal(t, whole, now)

	then, err := today[struct{ V any }](t, storedOnce(t, struct{ V detail }{detail{5}})) // which had a type
	require.NoError(t, err)
	require.Equal(t, map[string]any{"N": int64(5)}, then.V)
}

func TestAnEmbeddedStructIsStoredAsItsFields(t *testing.T) {
	type Base struct{ ID string }
	now, err := today[struct {
		ID string
		N  int
	}](t, storedOnce(t, struct {
		Base
		N int
	}{Base{"a"}, 5}))
	require.NoError(t, err)
	require.Equal(t, "a", now.ID)
}

func TestTimesComeBackInUTCToTheNanosecond(t *testing.T) {
	then := time.Date(2026, 1, 2, 3, 4, 5, 678_912_345, time.FixedZone("there", 3600))
	now, err := today[struct{ At time.Time }](t, storedOnce(t, struct{ At time.Time }{then}))
	require.NoError(t, err)
	require.Equal(t, then.UTC(), now.At)
}

func TestMoreElementsThanAreReadAreNotStored(t *testing.T) {
	_, err := codec.Marshal(struct{ V []bool }{make([]bool, 1<<20+1)})
	require.ErrorContains(t, err, "at .V: it has 1048577 elements")
}

// heard is the former Go type of said: the Go type may change, but the registered name may not.
func TestAGoTypeMayBeRenamedWhileItsStoredNameStays(t *testing.T) {
	type heard struct{ Word string }
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", heard{"a"}, heard{"b"})
		w.spawn().Tell(recall(w.to))
		w.replies.Expect("[ab]")
	})
}

func TestAnEventWhoseNameIsUnknownStopsRecoveryAndSaysWhatToDo(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"})
		w.store("persistence_test.formerly", said{"b"})
		failure := w.failsToRecover()
		require.EqualValues(w, 1, failure.Seq)
		require.ErrorIs(w, failure, actor.ErrNotDecodable)
		require.ErrorContains(w, failure, `actor.RegisterType[T]("persistence_test.formerly")`)
	})
}

// talk is the state of these two tests: what was heard, and how often.
type talk struct {
	Heard string
	Words int // added later
}

func init() { actor.RegisterType[talk]("persistence_test.talk") }

func talker(j persistence.Journal) actor.Behavior[actor.ActorRef[string]] {
	return behaviors.EventSourced("words", j, talk{},
		func(s talk, e said) talk { return talk{s.Heard + e.Word, s.Words + 1} },
		func(_ *actor.Context[actor.ActorRef[string]], s talk, to actor.ActorRef[string]) persistence.Effect[said] {
			to.Tell(fmt.Sprint(s))
			return persistence.None
		})
}

// A snapshot is the view of older code: it lacks the data of a new field.
func TestASnapshotKnowsNothingOfAFieldThatTheStateHasGot(t *testing.T) {
	inBubble(t, func(w *world) {
		w.snapshotOfOldTalk()
		actor.Spawn(w.system, talker(w.journal), "").Tell(w.to)
		w.replies.Expect("{ab 0}")
	})
}

func TestWithoutItsSnapshotsAStateIsMadeAnewFromTheEvents(t *testing.T) {
	inBubble(t, func(w *world) {
		w.snapshotOfOldTalk()
		claim, err := w.journal.Memory.Claim(w.Context(), "words", journal.WriterID{}, journal.Bounds{})
		require.NoError(w, err)
		require.NoError(w, w.journal.DeleteSnapshots(w.Context(), "words", claim.Epoch, claim.LastSeq, 0))
		actor.Spawn(w.system, talker(w.journal), "").Tell(w.to)
		w.replies.Expect("{ab 2}")
	})
}

// snapshotOfOldTalk stores two words, and the state that a program had after them that
// did not count.
func (w *world) snapshotOfOldTalk() {
	w.Helper()
	w.store("persistence_test.said", said{"a"}, said{"b"})
	claim, err := w.journal.Memory.Claim(w.Context(), "words", journal.WriterID{}, journal.Bounds{})
	require.NoError(w, err)
	require.NoError(w, w.journal.SaveSnapshot(w.Context(), "words", journal.Snapshot{
		Seq: 2, Epoch: claim.Epoch, Type: "persistence_test.talk", Payload: storedOnce(w.T, struct{ Heard string }{"ab"}),
	}))
}

// One event type with a version field: the event handler upgrades old events.
func TestAnEventHandlerCanReadTwoVersions(t *testing.T) {
	type moved struct {
		Version int
		Place   string // of version 0: "town, street"
		Town    string // from version 1 on
		Street  string
	}
	old, err := today[moved](t, storedOnce(t, struct{ Place string }{"Ulm, Main St"}))
	require.NoError(t, err)
	require.Zero(t, old.Version)
	require.Equal(t, "Ulm, Main St", old.Place)
}

// A durable state that was stored by an older program is read like an event.
func TestADurableStateOfAnOlderProgramIsRead(t *testing.T) {
	inBubble(t, func(w *world) {
		claim, err := w.journal.Memory.Claim(w.Context(), "page-1", journal.WriterID{}, journal.Bounds{})
		require.NoError(w, err)
		req := journal.AppendRequest{ID: "page-1", Epoch: claim.Epoch, Records: []journal.Record{{
			Seq: 1, Epoch: claim.Epoch, Type: "persistence_test.page", Meta: map[string]string{"understudy.kind": "state"},
			Payload: storedOnce(w.T, struct {
				Text  string
				Color string // gone since
			}{"old", "red"}),
		}}}
		require.NoError(w, w.journal.Memory.Append(w.Context(), []journal.AppendRequest{req})[0])
		w.openPage().Tell(showPage(w.to))
		w.replies.Expect("1: old")
	})
}
