package leases

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/jetstream"
)

// What the example says of itself, with a server: the end of a program gives the lease back.
func TestTheExample(t *testing.T) {
	t.Parallel()
	c := start(t, 1)
	config := jetstream.LeasesConfig{Bucket: "leases", Replicas: 1}
	c.open(t, config.Bucket) // the server is ready
	for _, printed := range []string{
		"visit 1, generation 1.1\nvisit 2, generation 1.1\n",
		"visit 1, generation 2.1\nvisit 2, generation 2.1\n",
	} {
		var out bytes.Buffer
		require.NoError(t, countVisits(t.Context(), &out, c.urls(), config, "node"))
		require.Equal(t, printed, out.String())
	}
}
