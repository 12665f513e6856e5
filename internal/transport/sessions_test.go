package transport

import (
	"strconv"
	"testing"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/transport/outbox"
)

func TestChannelsThatOthersOpenAreBounded(t *testing.T) {
	effort.Verify(t)
	s := sessions{last: map[linkKey]*inbound{}}
	lanes := make([]*inbound, maxChannels+1)
	for i := range lanes {
		lanes[i] = controlLane(strconv.Itoa(i), 7)
	}
	for _, in := range lanes[:maxChannels] {
		_, err := s.begin(in, false)
		require.NoError(t, err)
	}
	last := lanes[maxChannels]
	_, err := s.begin(last, false)
	require.ErrorIs(t, err, errTooManyChannels, "all are connected")
	for i, in := range lanes[10:20] {
		in.ended = time.Now().Add(time.Duration(-i) * time.Second)
		close(in.done)
	}
	_, err = s.begin(last, false)
	require.NoError(t, err)
	require.Len(t, s.last, maxChannels)
	require.NotContains(t, s.last, lanes[19].key, "the one that ended first has to go")
}

func TestUnauthenticatedConnectionsOfANetworkCountTogether(t *testing.T) {
	for addr, want := range map[string]string{
		"10.0.0.1:7":                   "10.0.0.1",
		"[2001:db8:1:2:3:4:5:6]:7":     "2001:db8:1:2::/64",
		"[2001:db8:1:2:aaaa::1]:8":     "2001:db8:1:2::/64",
		"[fe80::1%eth0]:7":             "fe80::/64",
		"[::ffff:10.0.0.1]:7":          "::ffff:10.0.0.1",
		"a host of a network in tests": "a host of a network in tests",
	} {
		require.Equal(t, want, hostOf(hostport(addr)), addr)
	}
}

func TestChannelsThatThisNodeOpensAreBounded(t *testing.T) {
	s := &links{all: map[linkKey]*link{}}
	for i := range maxChannels {
		key := linkKey{strconv.Itoa(i), channelControl}
		s.all[key] = &link{}
	}
	_, err := s.get(linkKey{"0", channelControl})
	require.NoError(t, err)
	require.ErrorIs(t, s.enqueue(linkKey{"new", channelControl}, outbox.Frame{}), errTooManyChannels)
	s.closed = true
	require.ErrorIs(t, s.enqueue(linkKey{"new", channelControl}, outbox.Frame{}), remote.ErrClosed)
}
