package allot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/internal/golden"
)

func TestDeclarationsInTheJournalAreRead(t *testing.T) {
	d := declaration{Type: table.Type{Name: "cart", Shards: 8, Message: "m", Role: "db", Sourced: table.Agreed}, Next: 3}
	data := golden.Hex(t, "declaration", func() []byte { return home.Encode(d) })
	require.Equal(t, home.Encode(d), data)
	require.Equal(t, d, home.Decode[declaration](data))
}
