package outside

import (
	"context"
	"fmt"
	"net/http"
	"sync"
)

// A Store keeps the tokens and the answers of a [Handler]. Any goroutine may call it.
type Store interface {
	// Once returns the answer that is stored for the key of the call. Without one it calls do,
	// and stores its answer if that is final. Of calls with the same key it lets one do, and the
	// others wait until ctx ends. do may panic; nothing is stored then.
	//
	// It returns [ErrReplaced] if the scope of the call has had a higher token, and [ErrKeyUsed]
	// if the key was stored for another request. A call without a key is always done.
	Once(ctx context.Context, c Call, do func(ctx context.Context) Answer) (Answer, error)
}

// A Call is a request and its caller. Key and Scope are "" if there were no such headers.
type Call struct {
	Caller
	Request string // the method and the URI
}

// An Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Final reports whether a repetition gets this answer. Answers that say that the request may
// succeed later are not final: 408, 425, 429, and 500 or more.
func (a Answer) Final() bool {
	switch a.Status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return a.Status < http.StatusInternalServerError
}

// Memory is a [Store] that forgets everything with its process, for tests. It keeps all answers.
type Memory struct {
	mu     sync.Mutex // guards the fields below
	tokens map[string]uint64
	keys   map[string]*kept
}

// kept is what is known of a key.
type kept struct {
	request string
	over    chan struct{} // closed once the request was handled
	answer  Answer        // its Status is 0 if it was not final
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{tokens: map[string]uint64{}, keys: map[string]*kept{}} }

// Once implements [Store].
func (m *Memory) Once(ctx context.Context, c Call, do func(context.Context) Answer) (Answer, error) {
	for {
		k, mine, err := m.take(c)
		switch {
		case err != nil:
			return Answer{}, err
		case mine:
			return m.handle(ctx, c.Key, k, do), nil
		}
		select {
		case <-k.over:
		case <-ctx.Done():
			return Answer{}, fmt.Errorf("outside: a request with this key is being handled: %w", context.Cause(ctx))
		}
		if k.answer.Status != 0 {
			return k.answer, nil
		}
	}
}

// take returns what is kept of the key. It is new if mine is true, and the caller handles it.
func (m *Memory) take(c Call) (k *kept, mine bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Token < m.tokens[c.Scope] {
		return nil, false, fmt.Errorf("%w: %s, token %d", ErrReplaced, c.Scope, c.Token)
	}
	if c.Scope != "" {
		m.tokens[c.Scope] = c.Token
	}
	k = m.keys[c.Key]
	if k == nil {
		k, mine = &kept{request: c.Request, over: make(chan struct{})}, true
	}
	if c.Key != "" {
		m.keys[c.Key] = k
	}
	if k.request != c.Request {
		return nil, false, fmt.Errorf("%w: %s", ErrKeyUsed, k.request)
	}
	return k, mine, nil
}

func (m *Memory) handle(ctx context.Context, key string, k *kept, do func(context.Context) Answer) (a Answer) {
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if a.Status != 0 && a.Final() {
			k.answer = a
		} else {
			delete(m.keys, key)
		}
		close(k.over)
	}()
	return do(ctx)
}
