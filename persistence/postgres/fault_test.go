package postgres_test

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/cutproxy"
	"github.com/understudy-go/understudy/internal/needs"
	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

func appendOne(t testing.TB, j journal.Journal, req journal.AppendRequest) error {
	t.Helper()
	return j.Append(t.Context(), []journal.AppendRequest{req})[0]
}

func proxied(t *testing.T, s *pgtest.Server) (*postgres.Journal, *cutproxy.Proxy) {
	t.Helper()
	proxy, err := cutproxy.Start(s.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	url := "postgres://postgres@" + proxy.Addr() + "/postgres?sslmode=disable"
	return openAt(t, url, postgres.Schema(t.Name())), proxy
}

// If a connection is cut after the request, the outcome is unknown. The same request, sent again,
// settles it.
func TestALostAnswerIsUnknownAndSettledByTheSameRequest(t *testing.T) {
	j, proxy := proxied(t, pgtest.Shared(t))
	o, err := own(j, "x")
	require.NoError(t, err)
	want := []string{}
	unknown := 0
	for range 50 {
		req := o.next()
		want = append(want, string(req.Records[0].Payload))
		lost := proxy.Lost()
		proxy.LoseAnswers(true)
		done := make(chan error, 1)
		go func() { done <- appendOne(t, j, req) }()
		for proxy.Lost() == lost {
			time.Sleep(100 * time.Microsecond) // the server works for real
		}
		proxy.Cut()
		proxy.LoseAnswers(false)
		err := <-done
		require.Error(t, err)
		if errors.Is(err, journal.ErrUnknown) {
			unknown++
		} else {
			require.ErrorIs(t, err, journal.ErrUnavailable, "what was lost answered no append")
		}
		for err != nil {
			require.True(t, errors.Is(err, journal.ErrUnknown) || errors.Is(err, journal.ErrUnavailable), "%v", err)
			err = appendOne(t, j, req)
		}
		o.claim.LastSeq++
	}
	require.Positive(t, unknown)
	t.Logf("%d of 50 answers were unknown", unknown)
	require.Equal(t, want, payloads(t, j, "x"))
}

// Connections are cut at any time under 16 writers.
func TestCutConnectionsLoseAndDoubleNothing(t *testing.T) {
	j, proxy := proxied(t, pgtest.Shared(t))
	running, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	var all sync.WaitGroup
	const writers = 16
	events, unknown, errs := make([]int, writers), make([]int, writers), make([]error, writers)
	for i := range writers {
		all.Go(func() { events[i], unknown[i], errs[i] = appendThroughOutages(running, j, fmt.Sprint(i)) })
	}
	for running.Err() == nil {
		select {
		case <-time.After(50*time.Millisecond + rand.N(200*time.Millisecond)): // the server works for real
			proxy.Cut()
		case <-running.Done():
		}
	}
	all.Wait()
	lost := 0
	for i := range writers {
		require.NoError(t, errs[i])
		require.Len(t, payloads(t, j, fmt.Sprint(i)), events[i])
		lost += unknown[i]
	}
	t.Logf("%v events, %d answers lost", events, lost)
}

// A claim that is cancelled while it waits for a lock has no effect, now or later.
func TestAClaimThatIsCalledOffDoesNotHappenLater(t *testing.T) {
	s := pgtest.Shared(t)
	j := open(t, s)
	o, err := own(j, "x")
	require.NoError(t, err)
	tx := begin(t, s, j.schema)
	_, err = tx.Exec(t.Context(), "LOCK TABLE understudy_entity IN EXCLUSIVE MODE")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err = j.Claim(ctx, "x", journal.WriterID{}, journal.Bounds{})
	require.ErrorIs(t, err, journal.ErrUnavailable, "the server said that it was called off")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(begin), 5*time.Second)
	require.NoError(t, tx.Rollback(t.Context()))
	require.NoError(t, appendOne(t, j, o.next()), "nobody has claimed it")
}

// A silent server does not make a caller wait longer than its context.
func TestAServerThatIsStoppedKeepsNobody(t *testing.T) {
	s := pgtest.Start(t)
	j := open(t, s)
	o, err := own(j, "x")
	require.NoError(t, err)
	s.Stop(t)
	for name, call := range map[string]func(ctx context.Context) error{
		"append": func(ctx context.Context) error { return j.Append(ctx, []journal.AppendRequest{o.next()})[0] },
		"claim": func(ctx context.Context) error {
			_, err := j.Claim(ctx, "y", journal.WriterID{}, journal.Bounds{})
			return err
		},
		"read": func(ctx context.Context) error {
			for _, err := range j.Read(ctx, "x", 1, 1) {
				return err
			}
			return nil
		},
		"save snapshot": func(ctx context.Context) error {
			return j.SaveSnapshot(ctx, "x", journal.Snapshot{Seq: 1, Epoch: o.claim.Epoch})
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		begin := time.Now()
		err := call(ctx)
		cancel()
		require.True(t, errors.Is(err, journal.ErrUnavailable) || errors.Is(err, journal.ErrUnknown), "%s: %v", name, err)
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		require.Less(t, time.Since(begin), 5*time.Second, name)
	}
	s.Resume(t)
	require.NoError(t, appendOne(t, j, o.next()))
	require.Len(t, payloads(t, j, "x"), 1)
}

func TestAServerThatTakesNoWritesSaysWhatToDo(t *testing.T) {
	s := pgtest.Start(t)
	j := open(t, s)
	o, err := own(j, "x")
	require.NoError(t, err)
	require.NoError(t, appendOne(t, j, o.next()))
	s.SQL(t, "ALTER SYSTEM SET default_transaction_read_only = on")
	s.SQL(t, "SELECT pg_reload_conf()")
	o.claim.LastSeq++
	require.Eventually(t, func() bool { //nolint:forbidigo // a real server
		err = appendOne(t, j, o.next())
		if err == nil {
			o.claim.LastSeq++
		}
		return err != nil
	}, time.Minute, time.Millisecond)
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorContains(t, err, "connect to the primary")
	_, err = j.Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorContains(t, err, "connect to the primary")
	require.Len(t, payloads(t, j, "x"), int(o.claim.LastSeq), "it can be read")
	another := openAt(t, j.url, postgres.Schema(j.schema))
	require.Len(t, payloads(t, another, "x"), int(o.claim.LastSeq), "and opened, as the tables are there")
}

func TestAFullDiskLosesNothingAndIsSurvivedInPlace(t *testing.T) {
	dir, err := os.MkdirTemp("", "understudy-small-disk-") //nolint:usetesting // another account must be able to reach it
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m,mode=777"); err != nil {
		needs.Missing(t, "to mount a small disk needs root, in a container with CAP_SYS_ADMIN: %v", err)
	}
	s := pgtest.Start(t)
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	ballast := filepath.Join(dir, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 2<<20), 0o600))
	space := filepath.Join(dir, "space")
	require.NoError(t, os.Mkdir(space, 0o700))
	s.Own(t, space)
	s.SQL(t, "CREATE TABLESPACE small LOCATION '"+space+"'")
	s.SQL(t, "ALTER DATABASE postgres SET default_tablespace = small")
	j := open(t, s)
	o, err := own(j, "x")
	require.NoError(t, err)
	next := func() journal.AppendRequest {
		req := o.next()
		req.Records[0].Payload = make([]byte, 1<<20)
		_, _ = crand.Read(req.Records[0].Payload) // it is not compressed away
		return req
	}
	for err == nil {
		if err = appendOne(t, j, next()); err == nil {
			o.claim.LastSeq++
		}
	}
	require.ErrorIs(t, err, journal.ErrFull)
	require.ErrorContains(t, err, "make space")
	require.Len(t, payloads(t, j, "x"), int(o.claim.LastSeq))
	require.NoError(t, os.Remove(ballast))
	require.NoError(t, appendOne(t, j, next()), "the same handle goes on")
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	s := pgtest.Shared(t)
	_, err := postgres.Open(t.Context(), "postgres://postgres@127.0.0.1:1/postgres?connect_timeout=2")
	require.ErrorIs(t, err, journal.ErrUnavailable)
	_, err = postgres.Open(t.Context(), "postgres://postgres@127.0.0.1:1:2/")
	require.ErrorContains(t, err, "open a journal")
	_, err = postgres.Open(t.Context(), s.URL(), postgres.Schema(""))
	require.ErrorContains(t, err, "Schema needs a name")
	_, err = postgres.New(t.Context(), nil)
	require.ErrorContains(t, err, "needs a pool")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = postgres.Open(ctx, s.URL())
	require.ErrorIs(t, err, context.Canceled)

	s.SQL(t, "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	_, err = postgres.Open(t.Context(), "postgres://postgres@"+s.Addr()+"/latin")
	require.ErrorContains(t, err, "use one with UTF8")
}

// A server that vanishes, or a network that drops what it has carried, does not close connections.
func TestNoReadWaitsForAConnectionThatIsSilent(t *testing.T) {
	s := pgtest.Shared(t)
	const patience = 2 * time.Second // more than an answer takes on a loaded machine
	for name, read := range map[string]func(context.Context, *postgres.Journal) error{
		"records": func(ctx context.Context, j *postgres.Journal) (err error) {
			for _, err = range j.Read(ctx, "x", 1, 1) {
			}
			return err
		},
		"events": func(ctx context.Context, j *postgres.Journal) (err error) {
			for _, err = range j.Events(ctx, journal.Query{}, "") {
			}
			return err
		},
		"snapshot": func(ctx context.Context, j *postgres.Journal) error {
			_, _, _, err := j.LoadSnapshot(ctx, "x", 1)
			return err
		},
		"snapshots": func(ctx context.Context, j *postgres.Journal) error { _, err := j.Snapshots(ctx, "x"); return err },
		"timers":    func(ctx context.Context, j *postgres.Journal) error { _, err := j.Timers(ctx, "x"); return err },
		"wakes": func(ctx context.Context, j *postgres.Journal) error {
			_, err := j.Wakes(ctx, journal.SliceRange{}, journal.Wake{}, time.Now(), 1)
			return err
		},
		"time": func(ctx context.Context, j *postgres.Journal) error { _, err := j.Now(ctx); return err },
		"lag":  func(ctx context.Context, j *postgres.Journal) error { _, err := j.Lag(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy, err := cutproxy.Start(s.Addr())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, proxy.Close()) })
			j := openAt(t, "postgres://postgres@"+proxy.Addr()+"/postgres?sslmode=disable", postgres.Schema("silent_"+name), postgres.Patience(patience))
			o, err := own(j, "x")
			require.NoError(t, err)
			require.NoError(t, appendOne(t, j, o.next()))
			ctx := t.Context() // that never ends by itself
			require.NoError(t, read(ctx, j))
			proxy.LoseAnswers(true)
			require.ErrorIs(t, read(ctx, j), journal.ErrUnavailable)
			proxy.LoseAnswers(false)
			require.NoError(t, read(ctx, j), "with another connection")
		})
	}
}
