package transport

import (
	"errors"
	"net"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/transport/wire"
)

// userLane is an inbound of a peer that has so many bytes of a message.
func userLane(addr string, session uint64, bytes int) *inbound {
	conn, _ := net.Pipe()
	return &inbound{
		key: linkKey{addr, channelUser}, from: remote.NodeID{Address: addr, Incarnation: 7}, session: session, conn: conn,
		stop: make(chan struct{}), done: make(chan struct{}),
		received: 1, parts: partlyArrived(bytes),
	}
}

// partlyArrived has the first bytes of a message that one byte is missing of.
func partlyArrived(bytes int) (r wire.Reassembler) {
	if bytes > 0 {
		frame := wire.AppendPart(nil, make([]byte, bytes), 1)
		_, _, _ = r.Add(wire.NewEnvelopeReader(0), frame[wire.HeaderSize:], bytes+1)
	}
	return r
}

// broken begins a session of which half a message has come when its connection ends.
func broken(t *testing.T, s *sessions, addr string, bytes int) *inbound {
	t.Helper()
	in := userLane(addr, 1, bytes)
	_, err := s.begin(in, false)
	require.NoError(t, err)
	s.finish(in)
	return in
}

func TestAnIncompleteMessageWaitsForTheNextConnectionOfItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{last: map[linkKey]*inbound{}, patience: 10 * time.Second}
		broken(t, s, "a", 1000)
		time.Sleep(9 * time.Second)
		next := userLane("a", 1, 0)
		_, err := s.begin(next, true)
		require.NoError(t, err)
		require.Equal(t, 1000, next.parts.Len())
		require.Equal(t, incomplete{all: []incompleteMessage{}}, s.incomplete)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, 1000, next.parts.Len())
	})
}

func TestASessionThatLosesAnIncompleteMessageDoesNotGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{last: map[linkKey]*inbound{}, patience: 10 * time.Second}
		in := broken(t, s, "a", 1000)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		require.Zero(t, in.parts.Len())
		_, err := s.begin(userLane("a", 1, 0), true)
		refused, ok := errors.AsType[*refusal](err)
		require.True(t, ok, err)
		require.Equal(t, remote.RefusedSession, refused.reason)

		broken(t, s, "b", 0)
		time.Sleep(9 * time.Minute)
		_, err = s.begin(userLane("b", 1, 0), true)
		require.NoError(t, err, "where there is nothing to lose, it does")
	})
}

func TestASessionThatHasBroughtWhatCannotBeReadDoesNotGoOn(t *testing.T) {
	s := &sessions{last: map[linkKey]*inbound{}, patience: 10 * time.Second}
	in := userLane("a", 1, 1000)
	_, err := s.begin(in, false)
	require.NoError(t, err)
	s.invalidate(in)
	s.finish(in)
	require.Zero(t, in.parts.Len())
	_, err = s.begin(userLane("a", 1, 0), true)
	refused, ok := errors.AsType[*refusal](err)
	require.True(t, ok, err)
	require.Equal(t, remote.RefusedSession, refused.reason)
}

func TestAnIncompleteMessageEndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{last: map[linkKey]*inbound{}, patience: 10 * time.Second}
		all := []*inbound{broken(t, s, "a", 1000), broken(t, s, "b", 1000), broken(t, s, "c", 1000)}
		s.over(func(p remote.NodeID) bool { return p.Address == "a" })
		_, err := s.begin(userLane("b", 2, 0), false)
		require.NoError(t, err)
		s.close()
		for _, in := range all {
			require.Zero(t, in.parts.Len())
		}
		require.Zero(t, s.incomplete.bytes)
	})
}

func TestIncompleteMessagesAreBounded(t *testing.T) {
	effort.Verify(t)
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{last: map[linkKey]*inbound{}, patience: 10 * time.Second}
		var all []*inbound
		for i := range 20 {
			all = append(all, broken(t, s, strconv.Itoa(i), maxIncomplete/10))
		}
		require.LessOrEqual(t, s.incomplete.bytes, maxIncomplete)
		require.Zero(t, all[9].parts.Len(), "the oldest have to go")
		require.NotZero(t, all[10].parts.Len())
		last := broken(t, s, "large", maxIncomplete+1)
		require.Equal(t, maxIncomplete+1, last.parts.Len(), "one message always fits")
		require.Zero(t, all[19].parts.Len())
		s.close()
	})
}
