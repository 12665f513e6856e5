package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/generationtest"
	"github.com/understudy-go/understudy/internal/pg/pgtest"
	"github.com/understudy-go/understudy/singleton/generation"
	"github.com/understudy-go/understudy/singleton/generation/postgres"
)

func TestConformance(t *testing.T) {
	s := pgtest.Start(t)
	runLaws(t, s, s.URL())
}

func TestConformanceBehindPgBouncer(t *testing.T) {
	s := pgtest.Start(t)
	for mode, connections := range map[string]int{"session": 40, "transaction": 4, "statement": 4} {
		t.Run(mode, func(t *testing.T) { runLaws(t, s, s.PgBouncer(t, mode, connections)) })
	}
}

// runLaws reaches the server at url.
func runLaws(t *testing.T, s *pgtest.Server, url string) {
	generationtest.Run(t, func(*testing.T) generationtest.Backend {
		return generationtest.Backend{
			Open: func(t *testing.T) generation.Source { return openAt(t, url) },
			Advance: func(t *testing.T, label string, g generation.Generation) {
				conn, err := pgx.Connect(t.Context(), s.URL())
				require.NoError(t, err)
				defer conn.Close(t.Context())
				_, err = conn.Exec(t.Context(), `INSERT INTO public.understudy_generation (label, term, seq, owner)
					VALUES ($1, $2, $3, 'somebody')`, label, g.Term, g.Seq)
				require.NoError(t, err)
			},
			Restart: func(t *testing.T) { s.Outage(t)() },
		}
	})
}

func TestAKilledProcessLeavesTheOldOrTheNew(t *testing.T) {
	generationtest.Killed(t, func() string { return pgtest.Shared(t).URL() }, func(t *testing.T, url string) generation.Source {
		return openAt(t, url, ownTable(t))
	})
}

func BenchmarkSource(b *testing.B) {
	s := pgtest.Shared(b)
	migrated := false
	generationtest.Benchmark(b, func(b *testing.B) generation.Source {
		source, err := postgres.Open(s.URL(), postgres.Table("public", "benchmark"))
		require.NoError(b, err)
		b.Cleanup(source.Close)
		if !migrated {
			require.NoError(b, source.Migrate(b.Context()))
			migrated = true
		}
		return source
	})
}
