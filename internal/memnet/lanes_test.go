package memnet_test

import (
	"encoding/binary"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
)

// exchange sends numbers as datagrams from n1 to n2, and returns them as they arrive.
func exchange(t *testing.T, n *memnet.Network, count int) (arrived []uint16) {
	t.Helper()
	from, to := packetConn(t, n, "n1"), packetConn(t, n, "n2")
	for i := range count {
		_, err := from.WriteTo(binary.BigEndian.AppendUint16(nil, uint16(i)), to.LocalAddr())
		require.NoError(t, err)
	}
	buf := make([]byte, 2)
	require.NoError(t, to.SetReadDeadline(time.Now().Add(time.Minute)))
	for {
		if _, _, err := to.ReadFrom(buf); err != nil {
			return arrived
		}
		arrived = append(arrived, binary.BigEndian.Uint16(buf))
	}
}

func TestDuplicateDeliversAShareOfTheDatagramsTwice(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.Duplicate(0.25)
		arrived := exchange(t, n, 800)
		require.InDelta(t, 1000, len(arrived), 40)
		slices.Sort(arrived)
		require.Len(t, slices.Compact(arrived), 800, "and none is lost")
	})
}

func TestJitterReordersDatagramsAndNeverAStream(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.Delay(time.Millisecond, 50*time.Millisecond)
		arrived := exchange(t, n, 100)
		require.Len(t, arrived, 100)
		require.False(t, slices.IsSorted(arrived))

		n.Duplicate(1)
		near, far := connect(t, n, "n1", "n2")
		for i := range 100 {
			write(t, near, string(binary.BigEndian.AppendUint16(nil, uint16(i))))
		}
		require.NoError(t, near.Close())
		all, err := io.ReadAll(far)
		require.NoError(t, err)
		require.Len(t, all, 200)
		for i := range 100 {
			require.Equal(t, uint16(i), binary.BigEndian.Uint16(all[2*i:]))
		}
	})
}

func TestLoseBetweenLosesOnOneDirectionOfOneLink(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.LoseBetween("n2", "n1", 1)
		require.Len(t, exchange(t, n, 10), 10)
		n.LoseBetween("n1", "n2", 1)
		require.Empty(t, exchange(t, n, 10))
		n.LoseBetween("n1", "n2", 0)
		require.Len(t, exchange(t, n, 10), 10)
	})
}

func TestDropLosesWhatItIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		n.Drop(func(from, to string, data []byte) bool {
			return from == "n1" && to == "n2" && binary.BigEndian.Uint16(data) < 7
		})
		require.Len(t, exchange(t, n, 10), 3)
		n.Drop(nil)
		require.Len(t, exchange(t, n, 10), 10)
	})
}

func TestAStalledLinkCarriesDatagramsOnly(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		near, far := connect(t, n, "n1", "n2")
		mend := n.Stall("n1", "n2")
		require.False(t, n.Open("n1", "n2"))
		require.True(t, n.Open("n2", "n1"))
		write(t, near, "later")
		write(t, far, "now")
		arrives(t, near, "now")
		silent(t, far, readByte(far))
		require.Len(t, exchange(t, n, 10), 10)
		mend()
		arrives(t, far, "later")
	})
}

func TestEachCutIsMendedByItself(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		first := n.Partition([]string{"n1"})
		second := n.OneWay("n1", "n2")
		first()
		require.False(t, n.Open("n1", "n2"))
		require.True(t, n.Open("n2", "n1"))
		second()
		require.True(t, n.Open("n1", "n2"))
		second()
	})
}
