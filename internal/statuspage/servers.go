package statuspage

import (
	"net/http"
	"sync"
)

// A server that shuts down waits for its requests and does not cancel their contexts, so streams
// must learn of it in another way.
type servers struct {
	mu      sync.Mutex // guards closing
	closing map[*http.Server]chan struct{}
}

// The channel is closed when the server shuts down, or nil if the request comes from no server. It
// registers with a server at the server's first request, because a server that already shuts down
// calls no new functions.
func (s *servers) of(r *http.Request) <-chan struct{} {
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.closing[server]; known != nil {
		return known
	}
	if s.closing == nil {
		s.closing = map[*http.Server]chan struct{}{}
	}
	closing := make(chan struct{})
	s.closing[server] = closing
	server.RegisterOnShutdown(sync.OnceFunc(func() { close(closing) }))
	return closing
}
