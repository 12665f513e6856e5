package kubernetes

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/understudy-go/understudy/singleton/lease"
)

// inProcess carries requests to a handler without a network, so that in a bubble of
// testing/synctest nothing waits for anything but its clock.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	ended := make(chan bool, 1)
	go func() {
		defer func() { ended <- recover() == nil }()
		p.handler.ServeHTTP(recorder, r)
	}()
	select {
	case ok := <-ended:
		if !ok {
			return nil, errors.Join(r.Context().Err(), io.ErrUnexpectedEOF)
		}
		answer := recorder.Result()
		answer.Request = r
		return answer, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// newStore returns a store of a process of its own.
func newStore(t testing.TB, server http.Handler) *Store {
	return New(clientOf(t, server), namespace)
}

func clientOf(t testing.TB, server http.Handler) rest.Interface {
	client, err := newClient(&rest.Config{
		Host: "https://api.invalid", Transport: inProcess{server}, BearerToken: "secret", QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON},
	})
	require.NoError(t, err)
	return client
}

// within returns a context that ends by itself.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func claim(holder string) lease.Claim {
	return lease.Claim{Name: "register", Holder: holder, TTL: 5 * time.Second}
}

func take(t testing.TB, s *Store, holder string) lease.Grant {
	t.Helper()
	g, err := s.Take(within(t, time.Second), claim(holder))
	require.NoError(t, err)
	return g
}
