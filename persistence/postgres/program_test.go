package postgres_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
)

// The output of the example, with a server.
func TestTheExample(t *testing.T) {
	s := pgtest.Start(t)
	for _, printed := range []string{"visit 1\nvisit 2\n", "visit 3\nvisit 4\n"} {
		var out bytes.Buffer
		require.NoError(t, countVisits(t.Context(), &out, s.URL()))
		require.Equal(t, printed, out.String())
	}
}
