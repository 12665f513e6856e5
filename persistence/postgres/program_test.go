package postgres_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the example says of itself, with a server.
func TestTheExample(t *testing.T) {
	s := start(t)
	for _, printed := range []string{"visit 1\nvisit 2\n", "visit 3\nvisit 4\n"} {
		var out bytes.Buffer
		require.NoError(t, countVisits(t.Context(), &out, s.url()))
		require.Equal(t, printed, out.String())
	}
}
