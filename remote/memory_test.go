package remote

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/remote/internal/wire"
)

// What is kept of a session without a connection is a count: neither the buffer of the connection
// nor the last message, which the delivery of what was put aside may hold on to.
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
