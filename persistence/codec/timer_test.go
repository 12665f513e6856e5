package codec_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/journal"
)

var noon = time.Date(2026, 11, 25, 12, 0, 0, 7, time.UTC)

func timer(payload string) journal.Timer {
	return journal.Timer{Key: "reminder", Due: noon, Attempt: 3, Type: "remind", Payload: []byte(payload)}
}

func changeTimers(t *testing.T, j journal.Journal, changes ...journal.TimerChange) error {
	t.Helper()
	claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	return j.Append(t.Context(), []journal.AppendRequest{{ID: "x", Epoch: claim.Epoch, Prev: claim.LastSeq, Timers: changes}})[0]
}

func timersOfX(t *testing.T, j journal.Journal) ([]journal.Timer, error) {
	t.Helper()
	store, ok := journal.As[journal.TimerStore](j)
	require.True(t, ok)
	return store.Timers(t.Context(), "x")
}

func TestTheMessageOfATimerIsStoredEncrypted(t *testing.T) {
	inner := journal.NewMemory()
	j := codec.Wrap(inner, encryption(t, keyA))
	set := journal.TimerChange{Timer: timer("the secret")}
	require.NoError(t, changeTimers(t, j, set, journal.TimerChange{Timer: journal.Timer{Key: "other", Payload: []byte("no matter")}, Remove: true}))
	require.Equal(t, "the secret", string(set.Payload), "what is passed in stays as it is")
	stored, err := timersOfX(t, inner)
	require.NoError(t, err)
	require.Len(t, stored, 1)
	require.NotContains(t, string(stored[0].Payload), "secret")
	got, err := timersOfX(t, j)
	require.NoError(t, err)
	require.Equal(t, []journal.Timer{timer("the secret")}, got)

	_, err = timersOfX(t, codec.Wrap(inner, encryption(t, keyB)))
	require.ErrorIs(t, err, journal.ErrCodec)
	require.ErrorContains(t, err, `read timers "x": timer "reminder": `)
}

func TestATimerThatWasChangedIsDamaged(t *testing.T) {
	for name, change := range map[string]func(*journal.Timer){
		"key": func(t *journal.Timer) { t.Key = "other" }, "due": func(t *journal.Timer) { t.Due = t.Due.Add(1) },
		"attempt": func(t *journal.Timer) { t.Attempt-- }, "type": func(t *journal.Timer) { t.Type = "other" },
		"payload": func(t *journal.Timer) { t.Payload[len(t.Payload)-1] ^= 1 }, "nothing": func(*journal.Timer) {},
	} {
		inner := journal.NewMemory()
		j := codec.Wrap(inner, encryption(t, keyA))
		require.NoError(t, changeTimers(t, j, journal.TimerChange{Timer: timer("the secret")}))
		stored, err := timersOfX(t, inner)
		require.NoError(t, err)
		changed := stored[0]
		change(&changed)
		require.NoError(t, changeTimers(t, inner, journal.TimerChange{Timer: stored[0], Remove: true}, journal.TimerChange{Timer: changed}))
		_, err = timersOfX(t, j)
		require.Equal(t, name != "nothing", errors.Is(err, journal.ErrCorrupt), "%s: %v", name, err)
	}
}

// A timer that is due at midnight is the same in each time zone.
func TestTheZoneOfATimeDoesNotMatter(t *testing.T) {
	j := codec.Wrap(journal.NewMemory(), encryption(t, keyA))
	abroad := timer("a")
	abroad.Due = noon.In(time.FixedZone("far", 3600))
	require.NoError(t, changeTimers(t, j, journal.TimerChange{Timer: abroad}))
	got, err := timersOfX(t, j)
	require.NoError(t, err)
	require.Equal(t, []journal.Timer{timer("a")}, got)
}

func TestATimerThatCannotBeEncodedIsInvalid(t *testing.T) {
	j := codec.Wrap(journal.NewMemory(), mirror{"mirror"})
	require.ErrorIs(t, changeTimers(t, j, journal.TimerChange{Timer: timer("unspeakable")}), journal.ErrInvalid)
	all, err := timersOfX(t, j)
	require.NoError(t, err)
	require.Empty(t, all)
}

func TestEncryptedTimersOfAllVersionsAreRead(t *testing.T) {
	now := func() []byte {
		inner := journal.NewMemory()
		require.NoError(t, changeTimers(t, codec.Wrap(inner, encryption(t, keyA)), journal.TimerChange{Timer: timer("the secret")}))
		stored, err := timersOfX(t, inner)
		require.NoError(t, err)
		return stored[0].Payload
	}
	then := golden.Hex(t, "encryption-1-timer", now)
	inner := journal.NewMemory()
	stored := timer("")
	stored.Payload = then
	require.NoError(t, changeTimers(t, inner, journal.TimerChange{Timer: stored}))
	got, err := timersOfX(t, codec.Wrap(inner, encryption(t, keyA)))
	require.NoError(t, err)
	require.Equal(t, []journal.Timer{timer("the secret")}, got)
	require.Equal(t, then, now(), "payloads are now stored in another form: give it another name")
}

func TestAJournalWithACodecKeepsTimersIfTheInnerOneDoes(t *testing.T) {
	m := journal.NewMemory()
	type plain = journal.Journal
	outer := codec.Wrap(struct{ plain }{m}, mirror{"mirror"})
	_, ok := journal.As[journal.TimerStore](outer)
	require.False(t, ok)
	store := outer.(journal.TimerStore)
	_, err := store.Timers(t.Context(), "x")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = store.Wakes(t.Context(), journal.SliceRange{}, journal.Wake{}, noon, 1)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = store.Now(t.Context())
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, ok = journal.As[journal.TimerStore](codec.Wrap(codec.Wrap(m, mirror{"one"}), mirror{"two"}))
	require.True(t, ok)
}
