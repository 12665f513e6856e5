package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

func TestLeasesObeyTheLaws(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, "fsync=off") // no machine is harmed, and disks that others keep busy delay nothing
	runLeaseLaws(t, s, s.URL())
}

// runLaws reaches the server at url.
func runLeaseLaws(t *testing.T, s *pgtest.Server, url string) {
	leasetest.Run(t, func(t *testing.T) leasetest.Backend {
		return leasetest.Backend{
			Open:    func(t *testing.T) lease.Store { return openLeases(t, url) },
			TTL:     5 * time.Second, // the server is restarted within it
			Outage:  s.Outage,
			Restart: func(t *testing.T) { s.Outage(t)() },
			Usurp: func(t *testing.T, name string) {
				conn, err := pgx.Connect(t.Context(), s.URL())
				require.NoError(t, err)
				defer conn.Close(t.Context())
				_, err = conn.Exec(t.Context(), `UPDATE public.understudy_lease SET holder = 'usurper',
					token = token + 1, held = token + 1, expires_at = clock_timestamp() + interval '1 minute' WHERE name = $1`, name)
				require.NoError(t, err)
			},
		}
	})
}
