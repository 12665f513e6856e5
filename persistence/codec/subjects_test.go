package codec_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/journal"
)

// byTag says that an event is of the subject in its first tag.
func byTag(at codec.PayloadID) string {
	if len(at.Tags) == 0 {
		return ""
	}
	return at.Tags[0]
}

func tell(t *testing.T, j journal.Journal, subject, payload string) error {
	t.Helper()
	claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	req := oneRecord("x", claim, payload)
	if subject != "" {
		req.Records[0].Tags = []string{subject}
	}
	return j.Append(t.Context(), []journal.AppendRequest{req})[0]
}

// told returns the payloads of x, with "-" for each that has been shredded.
func told(t *testing.T, j journal.Journal) (all string) {
	t.Helper()
	for r, err := range j.Read(t.Context(), "x", 1, 1<<62) {
		require.NoError(t, err)
		if r.Shredded {
			require.Nil(t, r.Payload)
			r.Payload = []byte("-")
		}
		all += string(r.Payload)
	}
	return all
}

// inEachKeys runs test with each implementation of codec.Keys. reopened returns the same keys, as
// another node has them.
func inEachKeys(t *testing.T, test func(t *testing.T, reopened func() codec.Keys)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		keys := codec.NewMemoryKeys()
		test(t, func() codec.Keys { return keys })
	})
	t.Run("SQL", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keys.db")
		test(t, func() codec.Keys { return codec.NewSQLKeys(openKeys(t, path)) })
	})
}

func openKeys(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestWhatIsStoredForASubjectIsReadUntilTheSubjectIsForgotten(t *testing.T) {
	inEachKeys(t, func(t *testing.T, reopened func() codec.Keys) {
		inner := journal.NewMemory()
		subjects := codec.NewSubjects(reopened(), byTag)
		j := codec.Wrap(inner, subjects)
		for _, of := range []struct{ subject, payload string }{{"ann", "a"}, {"bob", "b"}, {"", "c"}, {"ann", "d"}} {
			require.NoError(t, tell(t, j, of.subject, of.payload))
		}
		require.Equal(t, "abcd", told(t, j))
		require.Equal(t, "abcd", told(t, codec.Wrap(inner, codec.NewSubjects(reopened(), byTag))))

		require.NoError(t, subjects.Forget(t.Context(), "ann"))
		require.NoError(t, subjects.Forget(t.Context(), "ann"), "it may be repeated")
		require.NoError(t, subjects.Forget(t.Context(), "nobody"))
		require.Equal(t, "-bc-", told(t, j))
		require.Equal(t, "-bc-", told(t, codec.Wrap(inner, codec.NewSubjects(reopened(), byTag))))
		for _, subject := range []string{"ann", "nobody"} {
			err := tell(t, j, subject, "e")
			require.ErrorIs(t, err, codec.ErrForgotten)
			require.NotErrorIs(t, err, journal.ErrInvalid)
			require.ErrorContains(t, err, codec.SubjectID(subject))
		}
		require.NoError(t, tell(t, j, "bob", "f"))
		require.Equal(t, "-bc-f", told(t, j))
	})
}

func TestSnapshotsAndTimersOfAForgottenIDAreShredded(t *testing.T) {
	j, subjects := journalOfSubjects(journal.NewMemory(), codec.NewMemoryKeys())
	require.NoError(t, tell(t, j, "", "a"))
	require.NoError(t, changeTimers(t, j, journal.TimerChange{Timer: timer("the secret")}))
	store, ok := journal.As[journal.SnapshotStore](j)
	require.True(t, ok)
	claim, err := j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.NoError(t, store.SaveSnapshot(t.Context(), "x", journal.Snapshot{Seq: 1, Epoch: claim.Epoch, Type: "state", Payload: []byte("A")}))
	require.NoError(t, subjects.Forget(t.Context(), "x"))

	require.Equal(t, "-", told(t, j))
	s, ok, skipped, err := store.LoadSnapshot(t.Context(), "x", 1)
	require.NoError(t, err)
	require.True(t, ok && s.Shredded && len(s.Payload) == 0, s)
	require.Empty(t, skipped)
	all, err := timersOfX(t, j)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.True(t, all[0].Shredded)
}

// journalOfSubjects has a subject for each persistence id.
func journalOfSubjects(inner journal.Journal, keys codec.Keys) (journal.Journal, *codec.Subjects) {
	subjects := codec.NewSubjects(keys, nil)
	return codec.Wrap(inner, subjects), subjects
}

// Somebody who can write to the journal has no keys.
func TestAPayloadIsOnlyReadForItsOwnSubject(t *testing.T) {
	keys := codec.NewMemoryKeys()
	of := func(subject string) *codec.Subjects {
		return codec.NewSubjects(keys, func(codec.PayloadID) string { return subject })
	}
	at := codec.PayloadID{ID: "x", Seq: 1, Epoch: 1, Type: "event"}
	ofBob, err := of("bob").Encode(at, []byte("text"))
	require.NoError(t, err)
	plain, err := of("").Encode(at, []byte("text"))
	require.NoError(t, err)
	require.NoError(t, of("bob").Forget(t.Context(), "bob"))
	for subject, data := range map[string][]byte{"ada": ofBob, "carl": plain, "": ofBob} {
		_, err := of(subject).Decode(at, data)
		require.ErrorIs(t, err, journal.ErrCorrupt, subject)
		require.NotErrorIs(t, err, codec.ErrForgotten, subject)
	}
	_, err = of("bob").Decode(at, ofBob)
	require.ErrorIs(t, err, codec.ErrForgotten)
}

// Otherwise a wrong database of keys would erase everything in silence.
func TestKeysThatAreMissingAreAnErrorAndNotForgotten(t *testing.T) {
	inner := journal.NewMemory()
	j, _ := journalOfSubjects(inner, codec.NewMemoryKeys())
	require.NoError(t, tell(t, j, "", "a"))
	j, _ = journalOfSubjects(inner, codec.NewMemoryKeys())
	_, err := payloadsOfX(t, j)
	require.ErrorIs(t, err, journal.ErrCodec)
	require.ErrorContains(t, err, "not the keys that the journal was written with")
}

type lostKeys struct{ codec.Keys }

var errLost = errors.New("connection refused")

func (lostKeys) Find(context.Context, string) ([]byte, error) { return nil, errLost }

func TestKeysThatCannotBeReachedMakeTheJournalUnavailable(t *testing.T) {
	inner := journal.NewMemory()
	j, _ := journalOfSubjects(inner, codec.NewMemoryKeys())
	require.NoError(t, tell(t, j, "", "a"))
	j, _ = journalOfSubjects(inner, lostKeys{})
	err := tell(t, j, "", "b")
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorIs(t, err, errLost)
	_, err = payloadsOfX(t, j)
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.NotErrorIs(t, err, journal.ErrCorrupt)
}

// Another node may read for as long as it remembers the key.
func TestAnotherNodeForgetsASubjectWithinTheTimeForWhichItRemembersKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, keys := journal.NewMemory(), codec.NewMemoryKeys()
		j, subjects := journalOfSubjects(inner, keys)
		require.NoError(t, tell(t, j, "", "a"))
		other, _ := journalOfSubjects(inner, keys)
		require.Equal(t, "a", told(t, other))
		require.NoError(t, subjects.Forget(t.Context(), "x"))
		require.Equal(t, "-", told(t, j))
		require.Equal(t, "a", told(t, other))
		time.Sleep(codec.KeyTTL)
		require.Equal(t, "-", told(t, other))
	})
}

func TestAllNodesGetOneKeyForASubject(t *testing.T) {
	inEachKeys(t, func(t *testing.T, reopened func() codec.Keys) {
		const nodes = 4
		got, errs := make([][]byte, nodes), make([]error, nodes)
		var all sync.WaitGroup
		for i := range nodes {
			keys := reopened()
			all.Go(func() {
				got[i], errs[i] = keys.Add(t.Context(), codec.SubjectID("ann"), bytes.Repeat([]byte{byte(i)}, codec.KeySize))
			})
		}
		all.Wait()
		require.NoError(t, errors.Join(errs...))
		for _, key := range got {
			require.Equal(t, got[0], key)
		}
	})
}

func TestADestroyedKeyIsInNoFileOfItsDatabase(t *testing.T) {
	dir := t.TempDir()
	db := openKeys(t, filepath.Join(dir, "keys.db"))
	keys := codec.NewSQLKeys(db)
	secret := bytes.Repeat([]byte{0xab}, codec.KeySize)
	for _, subject := range []string{"ann", "bob"} {
		_, err := keys.Add(t.Context(), codec.SubjectID(subject), secret)
		require.NoError(t, err)
	}
	_, err := db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(PASSIVE)") // so that both files have it
	require.NoError(t, err)
	count := func() (n int) {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		for _, f := range files {
			data, err := os.ReadFile(f)
			require.NoError(t, err)
			n += strings.Count(string(data), strings.Repeat("ab", codec.KeySize))
		}
		return n
	}
	require.Positive(t, count())
	require.NoError(t, keys.Destroy(t.Context(), codec.SubjectID("ann")))
	require.NoError(t, keys.Destroy(t.Context(), codec.SubjectID("bob")))
	require.Zero(t, count())
}

func TestPayloadsOfSubjectsOfAllVersionsAreRead(t *testing.T) {
	keys := codec.NewMemoryKeys()
	_, err := keys.Add(t.Context(), codec.SubjectID("x"), keyA)
	require.NoError(t, err)
	subjects := codec.NewSubjects(keys, nil)
	then := golden.Hex(t, "subjects-1", func() []byte { return encrypt(t, subjects, here, "the secret") })
	payload, err := subjects.Decode(here, then)
	require.NoError(t, err)
	require.Equal(t, "the secret", string(payload))
	require.Equal(t, then, encrypt(t, subjects, here, "the secret"), "payloads are now stored in another form: give it another name")
	for name, damaged := range map[string][]byte{"nothing": nil, "another kind": {2}, "no nonce": then[:30], "a bit": append(bytes.Clone(then[:len(then)-1]), then[len(then)-1]^1)} {
		_, err := subjects.Decode(here, damaged)
		require.ErrorIs(t, err, journal.ErrCorrupt, name)
	}
}

// Keys are remembered, made, or read from a table of a million.
func BenchmarkSubjects(b *testing.B) {
	db := openKeys(b, filepath.Join(b.TempDir(), "keys.db"))
	keys, payload, subject := codec.NewSQLKeys(db), make([]byte, 200), ""
	subjects := codec.NewSubjects(keys, func(codec.PayloadID) string { return subject })
	encode := func(b *testing.B) {
		if _, err := subjects.Encode(here, payload); err != nil {
			b.Fatal(err)
		}
	}
	subject = "one"
	b.Run("remembered", func(b *testing.B) {
		for b.Loop() {
			encode(b)
		}
	})
	made := 0
	b.Run("made", func(b *testing.B) {
		for b.Loop() {
			subject = fmt.Sprint("made ", made)
			encode(b)
			made++
		}
	})
	b.Run("read", func(b *testing.B) {
		const many = 1_000_000
		tx, err := db.BeginTx(b.Context(), nil)
		require.NoError(b, err)
		insert, err := tx.PrepareContext(b.Context(), "INSERT INTO subject_key (subject, secret) VALUES ($1, hex(randomblob(32))) ON CONFLICT DO NOTHING")
		require.NoError(b, err)
		for i := range many {
			_, err := insert.ExecContext(b.Context(), codec.SubjectID(fmt.Sprint(i)))
			require.NoError(b, err)
		}
		require.NoError(b, tx.Commit())
		for b.Loop() {
			subject = fmt.Sprint(rand.IntN(many))
			encode(b)
		}
	})
}

// slowKeys find a key at once, and return it when they may.
type slowKeys struct {
	codec.Keys
	found, release chan struct{}
}

func (k slowKeys) Find(ctx context.Context, subject string) ([]byte, error) {
	key, err := k.Keys.Find(ctx, subject)
	k.found <- struct{}{}
	<-k.release
	return key, err
}

func TestAKeyThatIsDestroyedWhileItIsReadIsNotRemembered(t *testing.T) {
	keys := codec.NewMemoryKeys()
	inner := journal.NewMemory()
	require.NoError(t, tell(t, codec.Wrap(inner, codec.NewSubjects(keys, byTag)), "ada", "a"))
	slow := slowKeys{keys, make(chan struct{}), make(chan struct{})}
	subjects := codec.NewSubjects(slow, byTag)
	forgotten := make(chan error, 1)
	go func() {
		<-slow.found
		forgotten <- subjects.Forget(t.Context(), "ada")
		slow.release <- struct{}{}
	}()
	require.Equal(t, "a", told(t, codec.Wrap(inner, subjects)), "it was read before")
	require.NoError(t, <-forgotten)
	go func() { <-slow.found; slow.release <- struct{}{} }()
	require.Equal(t, "-", told(t, codec.Wrap(inner, subjects)))
}
