package statuspage

import (
	"net/http"
	"sync"
)

// servers are those that have used a handler. A server that shuts down waits for its requests,
// and does not end their contexts: so streams have to know.
type servers struct {
	mu      sync.Mutex // guards closing
	closing map[*http.Server]chan struct{}
}

// of returns a channel that is closed when the server of a request shuts down; nil for a request
// of none. A server is asked to tell with its first request: once it shuts down, it tells nobody
// new.
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
