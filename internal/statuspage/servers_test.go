package statuspage

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Regression: an open page kept http.Server.Shutdown waiting until its context ended, so a program
// that received SIGTERM was killed.
func TestAServerThatShutsDownEndsItsStreams(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: New(newFake(), Options{}), ReadHeaderTimeout: time.Minute}
	served := make(chan error)
	go func() { served <- server.Serve(listener) }()
	for range 3 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String()+"/events", nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		line, err := bufio.NewReader(res.Body).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "retry: 2000\n", line)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, server.Shutdown(ctx), "it waits for no stream")
	require.NoError(t, server.Shutdown(ctx), "again")
	require.ErrorIs(t, <-served, http.ErrServerClosed)
}
