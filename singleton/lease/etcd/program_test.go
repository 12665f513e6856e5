package etcd_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the example says of itself, with a server: the end of a program gives the lease back.
func TestTheExample(t *testing.T) {
	s := start(t)
	for _, printed := range []string{
		"visit 1, generation 1.1\nvisit 2, generation 1.1\n",
		"visit 1, generation 2.1\nvisit 2, generation 2.1\n",
	} {
		var out bytes.Buffer
		require.NoError(t, countVisits(t.Context(), &out, []string{"http://" + s.client}, "node"))
		require.Equal(t, printed, out.String())
	}
}
