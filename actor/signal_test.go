package actor

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// The context ends when the stop is on its way, never before.
func TestAnActorThatSeesTheEndOfItsContextHandlesNothingElse(t *testing.T) {
	s := NewSystem("test")
	c := Spawn(s, func(_ *Context[int], n *Next[int]) {
		n.OnMessage = func(*Context[int], int) Behavior[int] { return nil }
	}, "it").c
	c.mu.Lock() // a goroutine that stops it gets no further than its mailbox
	go c.node().signal(systemMsg{kind: sysStop})
	for range 10_000 {
		runtime.Gosched()
	}
	ended := c.flags.has(ended)
	c.mu.Unlock()
	require.False(t, ended)
	require.NoError(t, s.Shutdown(t.Context()))
}
