package postgres_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
)

// What the example says of itself, with a server: the end of a program gives the lease back.
func TestTheExampleOfLeases(t *testing.T) {
	s := pgtest.Start(t)
	for _, printed := range []string{
		"visit 1, generation 1.1\nvisit 2, generation 1.1\n",
		"visit 1, generation 2.1\nvisit 2, generation 2.1\n",
	} {
		var out bytes.Buffer
		require.NoError(t, countVisitsOnLease(t.Context(), &out, s.URL(), "node"))
		require.Equal(t, printed, out.String())
	}
}
