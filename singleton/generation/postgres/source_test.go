package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/cutproxy"
	"github.com/understudy-go/understudy/internal/pg/pgtest"
	"github.com/understudy-go/understudy/singleton/generation"
	"github.com/understudy-go/understudy/singleton/generation/postgres"
)

func patient(t *testing.T, patience time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestWhatWasClaimedSurvivesTheDeathOfTheServer(t *testing.T) {
	for _, settings := range [][]string{
		{"synchronous_commit=on"},
		// What is committed lies in memory for up to 30 s, unless the source prevents it.
		{"synchronous_commit=off", "wal_writer_delay=10000", "wal_writer_flush_after=0"},
		{"synchronous_commit=local"},
	} {
		t.Run(settings[0], func(t *testing.T) {
			s := pgtest.Start(t, settings...)
			source := openAt(t, s.URL())
			require.NoError(t, source.PutSpec(t.Context(), "forgotten", []byte("spec")))
			_, err := source.ClaimTerm(t.Context(), "forgotten", "a", 0)
			require.NoError(t, err)
			require.NoError(t, source.Forget(t.Context(), "forgotten"))
			s.Kill(t)
			_, err = source.ClaimTerm(patient(t, 5*time.Second), "job", "a", 0)
			require.Error(t, err)
			s.Run(t)
			records, err := source.List(t.Context())
			require.NoError(t, err)
			require.Empty(t, records, "the last that was done is there")

			for i := range 3 {
				_, err = source.ClaimTerm(t.Context(), "job", fmt.Sprint("node ", i), 0)
				require.NoError(t, err)
			}
			_, err = source.ClaimSeq(t.Context(), "job")
			require.NoError(t, err)
			s.SQL(t, "CREATE TABLE control (x int)") // committed by the server's own setting
			s.Kill(t)
			s.Run(t)
			if s.SQL(t, "SELECT coalesce(to_regclass('control')::text, 'gone')") == "gone" {
				require.Equal(t, "synchronous_commit=off", settings[0])
			} else {
				require.NotEqual(t, "synchronous_commit=off", settings[0], "the test must show what would be lost")
			}
			source = openAt(t, s.URL()) // as another process
			o, _, err := source.Current(t.Context(), "job")
			require.NoError(t, err)
			require.Equal(t, generation.Ownership{Owner: "node 2", Generation: generation.Generation{Term: 3, Seq: 1}}, o)
		})
	}
}

func TestAServerThatIsStoppedHoldsUpNobodyBeyondTheContext(t *testing.T) {
	s := pgtest.Start(t)
	source := openAt(t, s.URL())
	_, err := source.ClaimTerm(t.Context(), "job", "a", 0)
	require.NoError(t, err)

	s.Stop(t)
	const patience = 300 * time.Millisecond
	for name, ask := range map[string]func(context.Context) error{
		"claim":   func(ctx context.Context) error { _, err := source.ClaimTerm(ctx, "job", "b", 0); return err },
		"seq":     func(ctx context.Context) error { _, err := source.ClaimSeq(ctx, "job"); return err },
		"current": func(ctx context.Context) error { _, _, err := source.Current(ctx, "job"); return err },
		"put":     func(ctx context.Context) error { return source.PutSpec(ctx, "job", nil) },
		"list":    func(ctx context.Context) error { _, err := source.List(ctx); return err },
		"forget":  func(ctx context.Context) error { return source.Forget(ctx, "another") },
		"migrate": source.Migrate,
	} {
		began := time.Now()
		require.ErrorIs(t, ask(patient(t, patience)), context.DeadlineExceeded, name)
		require.Less(t, time.Since(began), patience+10*time.Second, name)
	}

	s.Resume(t)
	// Some of the requests reach the server only now.
	require.Eventually(t, func() bool { //nolint:forbidigo // a real server
		g, err := source.ClaimTerm(patient(t, 10*time.Second), "job", "c", 0)
		return err == nil && g.Term >= 2 && g.Term <= 10
	}, time.Minute, 50*time.Millisecond)
}

func TestWhoHasLostTheAnswerLeavesATermOutAtMost(t *testing.T) {
	s := pgtest.Shared(t)
	proxy, err := cutproxy.Start(s.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	source := openAt(t, "postgres://postgres@"+proxy.Addr()+"/postgres?sslmode=disable", ownTable(t))

	proxy.LoseAnswers(true)
	failed := make(chan error, 1)
	go func() {
		_, err := source.ClaimTerm(patient(t, time.Minute), "job", "a", 0)
		failed <- err
	}()
	require.Eventually(t, func() bool { //nolint:forbidigo // a real server
		return s.SQL(t, `SELECT count(*) = 1 FROM "`+t.Name()+`"`) == "t"
	}, time.Minute, 10*time.Millisecond)
	proxy.Cut()
	proxy.LoseAnswers(false)
	require.Error(t, <-failed)

	g, err := source.ClaimTerm(t.Context(), "job", "a", 0)
	require.NoError(t, err)
	require.EqualValues(t, 2, g.Term)
}

func TestATableMayHaveAnyNameAndIsNotLookedUpInTheSearchPath(t *testing.T) {
	s := pgtest.Shared(t)
	table := postgres.Table(`My "Jobs"`, `the terms; DROP`)
	source := openAt(t, s.URL(), table)
	_, err := source.ClaimTerm(t.Context(), "job", "a", 0)
	require.NoError(t, err)
	require.Equal(t, "1", s.SQL(t, `SELECT count(*) FROM "My ""Jobs"""."the terms; DROP"`))

	s.SQL(t, `CREATE SCHEMA elsewhere`)
	other := openAt(t, s.URL()+"?search_path=elsewhere", table)
	g, err := other.ClaimTerm(t.Context(), "job", "b", 0)
	require.NoError(t, err)
	require.EqualValues(t, 2, g.Term)

	_, err = postgres.Open(s.URL(), postgres.Table("", "x"))
	require.ErrorContains(t, err, "needs a schema")
	_, err = postgres.New(nil)
	require.ErrorContains(t, err, "needs a pool")
}

func TestTheDocumentedPrivilegesAreEnough(t *testing.T) {
	s := pgtest.Start(t)
	openAt(t, s.URL())
	s.SQL(t, `CREATE ROLE app LOGIN; REVOKE ALL ON SCHEMA public FROM PUBLIC`)
	source, err := postgres.Open("postgres://app@" + s.Addr() + "/postgres")
	require.NoError(t, err)
	t.Cleanup(source.Close)
	_, err = source.ClaimTerm(t.Context(), "job", "a", 0)
	require.ErrorContains(t, err, "the role needs USAGE on the schema and SELECT, INSERT and UPDATE on the table")

	s.SQL(t, `GRANT USAGE ON SCHEMA public TO app;
GRANT SELECT, INSERT, UPDATE ON public.understudy_generation TO app;`)
	require.NoError(t, source.Migrate(t.Context()), "it is there")
	_, err = source.ClaimTerm(t.Context(), "job", "a", 0)
	require.NoError(t, err)
	_, err = source.ClaimSeq(t.Context(), "job")
	require.NoError(t, err)
	require.NoError(t, source.PutSpec(t.Context(), "job", nil))
	_, err = source.List(t.Context())
	require.NoError(t, err)
	require.NoError(t, source.Forget(t.Context(), "job"))
}

func TestWhatIsWrongWithTheTableOrTheServerIsSaid(t *testing.T) {
	s := pgtest.Start(t)
	source, err := postgres.Open(s.URL())
	require.NoError(t, err)
	t.Cleanup(source.Close)
	_, err = source.ClaimTerm(t.Context(), "job", "a", 0)
	require.ErrorContains(t, err, "run Source.Migrate")
	_, err = source.List(t.Context())
	require.ErrorContains(t, err, "run Source.Migrate")

	s.SQL(t, `CREATE TABLE public.understudy_generation (label text PRIMARY KEY)`)
	require.ErrorContains(t, source.Migrate(t.Context()), "not one of this package")
	s.SQL(t, `DROP TABLE public.understudy_generation`)
	s.SQL(t, source.DDL())
	require.NoError(t, source.Migrate(t.Context()))
	s.SQL(t, `INSERT INTO public.understudy_generation VALUES ('\xyz', 1, 0, NULL, 'spec')`)
	_, err = source.List(t.Context())
	require.ErrorContains(t, err, "is not as this package writes it")

	standby, err := postgres.Open(s.URL() + "?default_transaction_read_only=on")
	require.NoError(t, err)
	t.Cleanup(standby.Close)
	_, err = standby.ClaimTerm(t.Context(), "job", "a", 0)
	require.ErrorContains(t, err, "this server takes no writes")
}
