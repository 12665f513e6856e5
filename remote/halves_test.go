package remote

import (
	"errors"
	"net"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// userLane is an inbound of a peer that has so many bytes of a message.
func userLane(addr string, session uint64, bytes int) *inbound {
	conn, _ := net.Pipe()
	return &inbound{
		key: linkKey{addr, laneUser}, from: NodeID{Address: addr, Incarnation: 7}, session: session, conn: conn,
		stop: make(chan struct{}), done: make(chan struct{}),
		received: 1, parts: joiner{body: make([]byte, bytes), left: 1},
	}
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

func TestHalfAMessageWaitsForTheNextConnectionOfItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{last: map[linkKey]*inbound{}, patience: 10 * time.Second}
		broken(t, s, "a", 1000)
		time.Sleep(9 * time.Second)
		next := userLane("a", 1, 0)
		_, err := s.begin(next, true)
		require.NoError(t, err)
		require.Len(t, next.parts.body, 1000)
		require.Equal(t, halves{all: []half{}}, s.halves)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, next.parts.body, 1000)
	})
}

func TestASessionThatLosesHalfAMessageDoesNotGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{last: map[linkKey]*inbound{}, patience: 10 * time.Second}
		in := broken(t, s, "a", 1000)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		require.Empty(t, in.parts.body)
		_, err := s.begin(userLane("a", 1, 0), true)
		refused, ok := errors.AsType[*refusal](err)
		require.True(t, ok, err)
		require.Equal(t, RefusedSession, refused.reason)

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
	s.spoil(in)
	s.finish(in)
	require.Empty(t, in.parts.body)
	_, err = s.begin(userLane("a", 1, 0), true)
	refused, ok := errors.AsType[*refusal](err)
	require.True(t, ok, err)
	require.Equal(t, RefusedSession, refused.reason)
}

func TestHalfAMessageGoesWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{last: map[linkKey]*inbound{}, patience: 10 * time.Second}
		all := []*inbound{broken(t, s, "a", 1000), broken(t, s, "b", 1000), broken(t, s, "c", 1000)}
		s.over(func(p NodeID) bool { return p.Address == "a" })
		_, err := s.begin(userLane("b", 2, 0), false)
		require.NoError(t, err)
		s.close()
		for _, in := range all {
			require.Empty(t, in.parts.body)
		}
		require.Zero(t, s.halves.bytes)
	})
}

func TestHalvesOfMessagesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{last: map[linkKey]*inbound{}, patience: 10 * time.Second}
		var all []*inbound
		for i := range 20 {
			all = append(all, broken(t, s, strconv.Itoa(i), maxHalves/10))
		}
		require.LessOrEqual(t, s.halves.bytes, maxHalves)
		require.Empty(t, all[9].parts.body, "the oldest have to go")
		require.NotEmpty(t, all[10].parts.body)
		last := broken(t, s, "large", maxHalves+1)
		require.Len(t, last.parts.body, maxHalves+1, "one message always fits")
		require.Empty(t, all[19].parts.body)
		s.close()
	})
}
