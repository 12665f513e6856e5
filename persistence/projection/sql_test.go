//go:build !race

package projection_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/testkit"
)

// childEnv makes the test binary project the journal in the directory that it names, until
// it is killed.
const childEnv = "UNDERSTUDY_PROJECTION_CHILD"

func TestMain(m *testing.M) {
	dir := os.Getenv(childEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := projectForEver(dir); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// projectForEver adds up all events, and says so after each batch.
func projectForEver(dir string) error {
	j, err := sqlite.Open(filepath.Join(dir, "journal.db"))
	if err != nil {
		return err
	}
	db, err := openModel(dir)
	if err != nil {
		return err
	}
	sys := actor.NewSystem("child")
	ref := actor.Spawn(sys, sums(db, j, projection.InBatches(10, time.Second)).Behavior(), "sums")
	for {
		s, err := actor.Ask(context.Background(), ref, func(r actor.ActorRef[projection.Status]) projection.Command { return projection.CatchUp{ReplyTo: r} })
		if err != nil {
			return err
		}
		fmt.Println(s.Workers[0].Offset)
	}
}

func openModel(dir string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "model.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)")
	if err != nil {
		return nil, err
	}
	_, err = db.Exec("CREATE TABLE IF NOT EXISTS model (id TEXT PRIMARY KEY, sum INTEGER NOT NULL, events INTEGER NOT NULL)")
	return db, err
}

// sums adds to the stored sum, so that a repeated event is noticed.
func sums(db *sql.DB, r journal.EventReader, opts ...projection.Option) *projection.Projection[event] {
	return projection.New("sums", r, journal.Query{}, projection.InTx(db, addUp), opts...)
}

func addUp(ctx context.Context, tx *sql.Tx, e projection.Event[event]) error {
	a, ok := e.Event.(added)
	if !ok {
		return errors.New("this is poison")
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO model VALUES (?1, ?2, 1) ON CONFLICT (id) DO UPDATE SET sum = sum + ?2, events = events + 1", e.ID, a.N)
	return err
}

type row struct{ Sum, Events int }

func readModel(t *testing.T, db *sql.DB) map[string]row {
	t.Helper()
	rows, err := db.Query("SELECT id, sum, events FROM model")
	require.NoError(t, err)
	defer rows.Close()
	model := map[string]row{}
	for rows.Next() {
		var id string
		var r row
		require.NoError(t, rows.Scan(&id, &r.Sum, &r.Events))
		model[id] = r
	}
	require.NoError(t, rows.Err())
	return model
}

// A world is a journal and a database to project into, in a directory.
type world struct {
	dir   string
	j     *sqlite.Journal
	model *sql.DB
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir()}
	var err error
	w.j, err = sqlite.Open(filepath.Join(w.dir, "journal.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.j.Close()) })
	w.model, err = openModel(w.dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.model.Close()) })
	return w
}

func TestAKilledProjectionLeavesTheExactModel(t *testing.T) {
	w := newWorld(t)
	writers := make([]*writer, 5)
	for i := range writers {
		writers[i] = newWriter(t, w.j, fmt.Sprint("id-", i))
	}
	want := map[string]row{}
	const rounds = 10
	for round := range rounds {
		child, err := process.Start(process.Self([]string{childEnv + "=" + w.dir}))
		require.NoError(t, err)
		line, begun := child.Line()
		require.True(t, begun)
		require.NotContains(t, line, "failed")
		for range 20 + rand.IntN(200) {
			writer, n := writers[rand.IntN(len(writers))], rand.IntN(1000)
			writer.append(added{n})
			r := want[writer.id]
			want[writer.id] = row{r.Sum + n, r.Events + 1}
		}
		child.Kill()
		behind := 0
		for id, r := range readModel(t, w.model) {
			require.LessOrEqual(t, r.Events, want[id].Events)
			behind += want[id].Events - r.Events
		}
		t.Logf("round %d: killed %d events behind", round, behind)
	}
	_, err := sums(w.model, w.j).CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, readModel(t, w.model))
}

func TestTwoProjectionsOfANameStillCountEachEventOnce(t *testing.T) {
	w := newWorld(t)
	a := newWriter(t, w.j, "a")
	sys := quiet(t)
	backoff := projection.RestartBackoff(actor.Backoff{Min: time.Millisecond})
	one := actor.Spawn(sys, sums(w.model, w.j, backoff).Behavior(), "one")
	two := actor.Spawn(sys, sums(w.model, w.j, backoff).Behavior(), "two")
	for range 200 {
		a.append(added{1})
	}
	catchUp(t, one)
	catchUp(t, two)
	require.Equal(t, map[string]row{"a": {200, 200}}, readModel(t, w.model))
}

func TestOfABatchThatFailsTheOthersAreDoneOneByOne(t *testing.T) {
	w := newWorld(t)
	newWriter(t, w.j, "a").append(added{1}, added{2}, poisoned{}, added{4})
	p := sums(w.model, w.j)
	_, err := p.CatchUp(t.Context())
	require.ErrorContains(t, err, `event 3 of "a", at sqlite:3: this is poison`)
	require.Equal(t, map[string]row{"a": {3, 2}}, readModel(t, w.model), "those before it are done")

	sys := quiet(t)
	failures := testkit.NewProbe[error](t, sys)
	add := func(ctx context.Context, tx *sql.Tx, e projection.Event[event]) error {
		err := addUp(ctx, tx, e)
		if err != nil {
			failures.Ref().Tell(err)
		}
		return err
	}
	again := projection.RestartBackoff(actor.Backoff{Min: time.Millisecond})
	ref := actor.Spawn(sys, projection.New("sums", w.j, journal.Query{}, projection.InTx(w.model, add), again).Behavior(), "sums")
	failures.Within(time.Minute, func() { // a real disk is at work
		for _, of := range []string{"the event", "the event again", "and again, so the status has the one before"} {
			require.ErrorContains(t, failures.Receive(), "poison", of)
		}
	})
	require.Equal(t, map[string]row{"a": {3, 2}}, readModel(t, w.model))
	require.Contains(t, status(t, ref).Failing(), "poison")
	require.NoError(t, sys.Shutdown(t.Context()), "or it would go on beside the next one")

	p = sums(w.model, w.j, projection.SkipAfter(2))
	got, err := p.CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]row{"a": {7, 3}}, readModel(t, w.model))
	require.Equal(t, uint64(1), got.Workers[0].Skipped)
}

func TestATransactionThatTakesLongIsCutBetweenEvents(t *testing.T) {
	w := newWorld(t)
	newWriter(t, w.j, "a").append(added{1}, added{2}, added{3}, added{4})
	got, err := sums(w.model, w.j, projection.InBatches(100, time.Nanosecond)).CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]row{"a": {10, 4}}, readModel(t, w.model))
	require.Equal(t, journal.Offset("sqlite:4"), got.Workers[0].Offset)
}

func TestWorkersShareADatabase(t *testing.T) {
	w := newWorld(t)
	want := map[string]row{}
	for i := range 20 {
		id := fmt.Sprint("id-", i)
		newWriter(t, w.j, id).append(added{i}, added{i})
		want[id] = row{2 * i, 2}
	}
	ref := actor.Spawn(testkit.NewSystem(t, testkit.WithoutEncoding()), sums(w.model, w.j, projection.Workers(4)).Behavior(), "sums")
	catchUp(t, ref)
	require.Equal(t, want, readModel(t, w.model))
	var names int
	require.NoError(t, w.model.QueryRow("SELECT count(*) FROM projection_offset WHERE name LIKE 'sums%'").Scan(&names))
	require.Equal(t, 5, names, "one for each worker, and one that says how many there are")
}

func TestOffsetsAreMovedOnlyFromWhereTheyAre(t *testing.T) {
	db, err := openModel(t.TempDir())
	require.NoError(t, err)
	defer db.Close()
	for _, o := range []projection.OffsetStore{&projection.MemoryOffsets{}, projection.NewSQLOffsets(db)} {
		load := func() journal.Offset {
			offset, err := o.Load(t.Context(), "x")
			require.NoError(t, err)
			return offset
		}
		require.Empty(t, load())
		require.ErrorIs(t, o.Save(t.Context(), "x", "1", "2"), projection.ErrMoved)
		require.NoError(t, o.Save(t.Context(), "x", "", "1"))
		require.ErrorIs(t, o.Save(t.Context(), "x", "", "2"), projection.ErrMoved)
		require.NoError(t, o.Save(t.Context(), "x", "1", "2"))
		require.ErrorIs(t, o.Save(t.Context(), "x", "1", "3"), projection.ErrMoved)
		require.Equal(t, journal.Offset("2"), load())
		require.NoError(t, o.Save(t.Context(), "y", "", "7"))
		require.Equal(t, journal.Offset("2"), load())
	}
}

func TestADatabaseThatIsGoneIsAnErrorWithTheOperation(t *testing.T) {
	w := newWorld(t)
	newWriter(t, w.j, "a").append(added{1})
	db, err := openModel(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = sums(db, w.j).CatchUp(t.Context())
	require.ErrorContains(t, err, "create the table projection_offset: sql: database is closed")
}

func TestOfADividedEventAllIsDoneOrNothing(t *testing.T) {
	w := newWorld(t)
	newWriter(t, w.j, "a").append(added{2}, added{3}, added{1})
	parts := 0
	p := projection.New("sums", w.j, journal.Query{}, projection.FromJournal(adaptNumbers, projection.InTx(w.model,
		func(ctx context.Context, tx *sql.Tx, e projection.Event[event]) error {
			if e.Seq == 2 {
				if parts++; parts%2 == 0 {
					return errors.New("not the second part")
				}
			}
			return addUp(ctx, tx, e)
		})), projection.SkipAfter(3))
	got, err := p.CatchUp(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]row{"a": {3, 3}}, readModel(t, w.model), "nothing of the second event")
	require.Equal(t, uint64(1), got.Workers[0].Skipped)
}

// The writers of the journal would wait for the projection.
func TestOffsetsInTheFileOfAJournalAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := sqlite.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close()) }()
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	offsets := projection.NewSQLOffsets(db)
	_, err = offsets.Load(t.Context(), "balances")
	require.ErrorContains(t, err, "the table projection_offset would be in the file of a journal, whose writers would wait for it: open another file")
	require.Error(t, offsets.Save(t.Context(), "balances", "", "sqlite:1"))
}
