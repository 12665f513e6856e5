package postgres

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Updating single bits in the statements has the same result as computing the checksum of the new
// head.
func TestTheChecksumOfAHeadChangesBitByBit(t *testing.T) {
	for _, id := range []string{"", "x", "a longer id"} {
		for _, c := range [][2]uint64{{0, 1}, {7, 8}, {1, 1 << 40}, {1<<63 - 2, 1<<63 - 1}} {
			before := head{id: id, epoch: 3, seq: c[0], deletedTo: 2}
			after := before
			after.seq = c[1]
			require.Equal(t, after.checksum(), before.checksum()^advance(c[0], c[1]), fmt.Sprint(id, c))
		}
	}
}
