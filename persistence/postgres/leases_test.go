package postgres_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/cutproxy"
	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

const ttl = time.Minute

func claim(name, holder string) lease.Claim {
	return lease.Claim{Name: name, Holder: holder, TTL: ttl}
}

func patient(t *testing.T, patience time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestALeaseAndItsTokenSurviveTheDeathOfTheServer(t *testing.T) {
	t.Parallel()
	for _, settings := range [][]string{
		{"synchronous_commit=on"},
		// What is committed lies in memory for up to 30 s, unless the store prevents it.
		{"synchronous_commit=off", "wal_writer_delay=10000", "wal_writer_flush_after=0"},
		{"synchronous_commit=local"},
	} {
		t.Run(settings[0], func(t *testing.T) {
			s := pgtest.Start(t, settings...)
			store := openLeases(t, s.URL())
			first, err := store.Take(t.Context(), claim("job", "a"))
			require.NoError(t, err)
			term, err := store.ClaimTerm(t.Context(), "other", "node", 40)
			require.NoError(t, err)
			require.EqualValues(t, 41, term)
			s.SQL(t, "CREATE TABLE control (x int)") // committed by the server's own setting

			s.Kill(t)
			_, err = store.Renew(patient(t, 5*time.Second), first)
			require.Error(t, err)
			require.NotErrorIs(t, err, lease.ErrLost, "nobody knows")
			s.Run(t)
			store = openLeases(t, s.URL()) // as another process

			if s.SQL(t, "SELECT coalesce(to_regclass('control')::text, 'gone')") == "gone" {
				require.Equal(t, "synchronous_commit=off", settings[0])
			} else {
				require.NotEqual(t, "synchronous_commit=off", settings[0], "the test must show what would be lost")
			}
			_, err = store.Take(t.Context(), claim("job", "b"))
			require.ErrorIs(t, err, lease.ErrHeld)
			_, err = store.Renew(t.Context(), first)
			require.NoError(t, err, "its holder goes on")
			require.NoError(t, store.Release(t.Context(), first))

			s.Kill(t)
			s.Run(t)
			store = openLeases(t, s.URL())
			second, err := store.Take(t.Context(), claim("job", "b"))
			require.NoError(t, err, "it was given back")
			require.Greater(t, second.Token, first.Token)
			term, err = store.ClaimTerm(t.Context(), "other", "node", 0)
			require.NoError(t, err)
			require.EqualValues(t, 42, term)
		})
	}
}

func TestAServerThatIsStoppedHoldsUpNobodyBeyondTheContext(t *testing.T) {
	s := pgtest.Start(t)
	store := openLeases(t, s.URL())
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)

	s.Stop(t)
	const patience = 300 * time.Millisecond
	for name, ask := range map[string]func(context.Context) error{
		"take":  func(ctx context.Context) error { _, err := store.Take(ctx, claim("job", "b")); return err },
		"renew": func(ctx context.Context) error { _, err := store.Renew(ctx, grant); return err },
		"release": func(ctx context.Context) error {
			return store.Release(ctx, lease.Grant{Claim: claim("x", "x"), Token: 1})
		},
		"term":    func(ctx context.Context) error { _, err := store.ClaimTerm(ctx, "job", "node", 0); return err },
		"migrate": store.Migrate,
	} {
		began := time.Now()
		err := ask(patient(t, patience))
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		require.NotErrorIs(t, err, lease.ErrHeld, name)
		require.NotErrorIs(t, err, lease.ErrLost, name)
		require.Less(t, time.Since(began), patience+10*time.Second, name)
	}

	s.Resume(t)
	// Some of the requests reach the server only now; the lease is still a's.
	require.Eventually(t, func() bool { //nolint:forbidigo // a real server
		_, err = store.Renew(patient(t, 10*time.Second), grant)
		return err == nil
	}, time.Minute, 50*time.Millisecond)
	_, err = store.Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)
}

func TestWhoHasLostTheAnswerIsToldAgain(t *testing.T) {
	s := pgtest.Shared(t)
	proxy, err := cutproxy.Start(s.Addr())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	store := openLeases(t, "postgres://postgres@"+proxy.Addr()+"/postgres?sslmode=disable", ownTable(t))

	// lose runs f, the answer to which gets lost after the server has committed.
	lose := func(committed string, f func(context.Context) error) {
		t.Helper()
		require.NoError(t, store.Migrate(t.Context())) // there is a connection
		proxy.LoseAnswers(true)
		failed := make(chan error, 1)
		go func() { failed <- f(patient(t, time.Minute)) }()
		require.Eventually(t, func() bool { return s.SQL(t, committed) == "t" }, time.Minute, 10*time.Millisecond) //nolint:forbidigo // a real server
		proxy.Cut()
		proxy.LoseAnswers(false)
		err := <-failed
		require.Error(t, err)
		require.NotErrorIs(t, err, lease.ErrHeld)
		require.NotErrorIs(t, err, lease.ErrLost)
	}

	lose(`SELECT count(*) = 1 FROM "`+t.Name()+`" WHERE holder = 'a'`, func(ctx context.Context) error {
		_, err := store.Take(ctx, claim("job", "a"))
		return err
	})
	_, err = store.Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
	require.EqualValues(t, 1, grant.Token, "it is the same acquisition")

	until := s.SQL(t, `SELECT expires_at FROM "`+t.Name()+`"`)
	lose(`SELECT expires_at > '`+until+`' FROM "`+t.Name()+`"`, func(ctx context.Context) error {
		_, err := store.Renew(ctx, grant)
		return err
	})
	grant, err = store.Renew(t.Context(), grant)
	require.NoError(t, err)

	lose(`SELECT holder = '' FROM "`+t.Name()+`"`, func(ctx context.Context) error {
		return store.Release(ctx, grant)
	})
	require.NoError(t, store.Release(t.Context(), grant))

	lose(`SELECT holder = 'c' FROM "`+t.Name()+`"`, func(ctx context.Context) error {
		_, err := store.Take(ctx, claim("job", "c"))
		return err
	})
	require.NoError(t, store.Release(t.Context(), lease.Grant{Claim: claim("job", "c")}), "without ever knowing the token")
	grant, err = store.Take(t.Context(), claim("job", "d"))
	require.NoError(t, err)
	require.EqualValues(t, 3, grant.Token)
}

func TestOfEightContendersOneGetsTheLease(t *testing.T) {
	leasetest.Contenders(t, eight(t, pgtest.Shared(t)), 50)
}

func TestTermsAreStrictlyIncreasingFromEverywhere(t *testing.T) {
	termsIncrease(t, eight(t, pgtest.Shared(t)), 50)
}

func eight(t *testing.T, s *pgtest.Server) []*postgres.Leases {
	t.Helper()
	stores := make([]*postgres.Leases, 8)
	for i := range stores {
		stores[i] = openLeases(t, s.URL(), ownTable(t))
	}
	return stores
}

// termsIncrease lets all the stores ask for terms at once.
func termsIncrease(t *testing.T, stores []*postgres.Leases, rounds int) {
	t.Helper()
	terms := make([][]uint64, len(stores))
	var all sync.WaitGroup
	for i, store := range stores {
		all.Go(func() {
			for range rounds {
				term, err := store.ClaimTerm(t.Context(), "job", "node", uint64(i))
				if err != nil {
					t.Errorf("asker %d: %v", i, err)
					return
				}
				terms[i] = append(terms[i], term)
			}
		})
	}
	all.Wait()
	seen := map[uint64]bool{}
	for _, of := range terms {
		require.IsIncreasing(t, of)
		for _, term := range of {
			require.False(t, seen[term], "term %d came twice", term)
			seen[term] = true
		}
	}
	require.Len(t, seen, len(stores)*rounds)
}

func TestTermsAndTokensOfANameAreOneSequence(t *testing.T) {
	store := openLeases(t, pgtest.Shared(t).URL(), ownTable(t))
	term, err := store.ClaimTerm(t.Context(), "job", "node", 6)
	require.NoError(t, err)
	require.EqualValues(t, 7, term)
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
	require.EqualValues(t, 8, grant.Token)
	term, err = store.ClaimTerm(t.Context(), "job", "node", 0)
	require.NoError(t, err)
	require.EqualValues(t, 9, term)
	_, err = store.Renew(t.Context(), grant)
	require.NoError(t, err, "a term does not take the lease away")
	require.NoError(t, store.Release(t.Context(), grant))
	grant, err = store.Take(t.Context(), claim("job", "b"))
	require.NoError(t, err)
	require.EqualValues(t, 10, grant.Token)
}

func TestNumbersEndWithAClearError(t *testing.T) {
	store := openLeases(t, pgtest.Shared(t).URL(), ownTable(t))
	for _, floor := range []uint64{math.MaxInt64, math.MaxUint64} {
		c := claim("job", "a")
		c.Floor = floor
		_, err := store.Take(t.Context(), c)
		require.ErrorIs(t, err, postgres.ErrOverflow)
		_, err = store.ClaimTerm(t.Context(), "job", "node", floor)
		require.ErrorIs(t, err, postgres.ErrOverflow)
	}
	c := claim("job", "a")
	c.Floor = math.MaxInt64 - 1
	grant, err := store.Take(t.Context(), c)
	require.NoError(t, err)
	require.EqualValues(t, math.MaxInt64, grant.Token)
	_, err = store.Renew(t.Context(), grant)
	require.NoError(t, err)
	require.NoError(t, store.Release(t.Context(), grant))
	_, err = store.Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, postgres.ErrOverflow)
	_, err = store.ClaimTerm(t.Context(), "job", "node", 0)
	require.ErrorIs(t, err, postgres.ErrOverflow)
}

func TestEveryNameIsAnother(t *testing.T) {
	store := openLeases(t, pgtest.Shared(t).URL(), ownTable(t))
	for i, name := range []string{"", "a", "A", "a ", "ä", "a\u0308", `\`, `\\`, "\x00", `\00`, "\xff", `\ff`, "\uFFFD", `a"'; --`, strings.Repeat("日", 66)} {
		term, err := store.ClaimTerm(t.Context(), name, "node", 0)
		require.NoError(t, err, "%q", name)
		require.EqualValues(t, 1, term, "%q", name)
		c := claim(name, "holder\x00"+fmt.Sprint(i))
		grant, err := store.Take(t.Context(), c)
		require.NoError(t, err, "%q", name)
		_, err = store.Take(t.Context(), claim(name, "holder"))
		require.ErrorIs(t, err, lease.ErrHeld, "%q", name)
		require.NoError(t, store.Release(t.Context(), grant))
	}
}

func TestATableMayHaveAnyNameAndIsNotLookedUpInTheSearchPath(t *testing.T) {
	s := pgtest.Shared(t)
	table := postgres.LeasesTable(`My "Jobs"`, `the leases; DROP`)
	store := openLeases(t, s.URL(), table)
	_, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
	require.Equal(t, "1", s.SQL(t, `SELECT count(*) FROM "My ""Jobs"""."the leases; DROP"`))

	s.SQL(t, `CREATE SCHEMA elsewhere`)
	other := openLeases(t, s.URL()+"?search_path=elsewhere", table)
	_, err = other.Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)

	_, err = postgres.OpenLeases(s.URL(), postgres.LeasesTable("", "x"))
	require.ErrorContains(t, err, "needs a schema")
	_, err = postgres.NewLeases(nil)
	require.ErrorContains(t, err, "needs a pool")
}

func TestTheDocumentedPrivilegesAreEnough(t *testing.T) {
	s := pgtest.Start(t)
	owner := openLeases(t, s.URL())
	s.SQL(t, `CREATE ROLE app LOGIN; REVOKE ALL ON SCHEMA public FROM PUBLIC`)
	app := "postgres://app@" + s.Addr() + "/postgres"

	store, err := postgres.OpenLeases(app)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	_, err = store.Take(t.Context(), claim("job", "a"))
	require.ErrorContains(t, err, "the role needs USAGE on the schema and SELECT, INSERT and UPDATE on the table")

	s.SQL(t, `GRANT USAGE ON SCHEMA public TO app;
GRANT SELECT, INSERT, UPDATE ON public.understudy_lease TO app;`)
	require.NoError(t, store.Migrate(t.Context()), "it is there")
	grant, err := store.Take(t.Context(), claim("job", "a"))
	require.NoError(t, err)
	_, err = owner.Take(t.Context(), claim("job", "b"))
	require.ErrorIs(t, err, lease.ErrHeld)
	_, err = store.Renew(t.Context(), grant)
	require.NoError(t, err)
	require.NoError(t, store.Release(t.Context(), grant))
	_, err = store.ClaimTerm(t.Context(), "job", "node", 0)
	require.NoError(t, err)
}

func TestWhatIsWrongWithTheTableOrTheServerIsSaid(t *testing.T) {
	s := pgtest.Start(t)
	store, err := postgres.OpenLeases(s.URL())
	require.NoError(t, err)
	t.Cleanup(store.Close)
	_, err = store.Take(t.Context(), claim("job", "a"))
	require.ErrorContains(t, err, "run Leases.Migrate")

	s.SQL(t, `CREATE TABLE public.understudy_lease (name text PRIMARY KEY)`)
	require.ErrorContains(t, store.Migrate(t.Context()), "not one of this package")
	s.SQL(t, `DROP TABLE public.understudy_lease`)
	s.SQL(t, store.DDL())
	require.NoError(t, store.Migrate(t.Context()))

	standby, err := postgres.OpenLeases(s.URL() + "?default_transaction_read_only=on")
	require.NoError(t, err)
	t.Cleanup(standby.Close)
	_, err = standby.Take(t.Context(), claim("job", "a"))
	require.ErrorContains(t, err, "this server takes no writes")
}
