package transport

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/transport/wire"
)

// Only a count is kept of a session without a connection. The buffer of the connection, and the
// last message, which pending deliveries may reference, are freed.
func TestASessionWithoutAConnectionKeepsNoMessage(t *testing.T) {
	s := &sessions{last: map[linkKey]*inbound{}}
	in := userLane("a", 1, 0)
	in.parts = wire.Reassembler{}
	_, err := s.begin(in, false)
	require.NoError(t, err)
	freed := make(chan struct{})
	in.settle = holdsAMessage(freed)
	s.finish(in)
	runtime.GC()
	<-freed
	require.Contains(t, s.last, in.key)
}

func holdsAMessage(freed chan struct{}) (settle func()) {
	message := make([]byte, 1<<20)
	runtime.AddCleanup(&message[0], func(freed chan struct{}) { close(freed) }, freed)
	return func() { _ = message[0] }
}
