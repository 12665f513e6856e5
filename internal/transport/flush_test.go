package transport_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/memnet"
)

func TestFlushWaitsUntilAllHasArrivedOrIsLost(t *testing.T) {
	bubble(t, func(t *testing.T, n *memnet.Network) {
		a, b := start(t, n, "a"), start(t, n, "b")
		require.NoError(t, a.Flush(t.Context()), "of nothing")
		a.Send(a.sys, extension.Target{Address: b.Addr(), Path: "/user/nobody"}, "x")
		require.NoError(t, a.Flush(t.Context()), "a connection is made first")
		require.Len(t, b.lost.got(), 1)
		require.Empty(t, a.lost.got())

		n.Partition([]string{"b"})
		a.Send(a.sys, extension.Target{Address: b.Addr(), Path: "/user/nobody"}, "y")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, a.Flush(ctx), context.DeadlineExceeded)
		a.Forget(b.Self())
		require.NoError(t, a.Flush(t.Context()))
		soon()
		require.Len(t, a.lost.got(), 1)
	})
}
