//go:build linux

package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// askAgency makes a call, and returns the status and the body of the answer, which is not lost.
func askAgency(a *agency, key string, token int) (status int, body string) {
	r := httptest.NewRequest(http.MethodPost, "http://agency/", http.NoBody)
	r.Header.Set(outside.KeyHeader, key)
	r.Header.Set(outside.ScopeHeader, "trip|t1")
	r.Header.Set(outside.TokenHeader, strconv.Itoa(token))
	answer := &heldAnswer{header: http.Header{}}
	a.note(answer, r)
	return answer.status, string(answer.body)
}

func TestTheAgencyActsOnceAndNotForTheDead(t *testing.T) {
	a := newAgency()
	for _, call := range []struct {
		key    string
		token  int
		status int
		body   string
	}{
		{"book 0", 1, http.StatusOK, "1\n"},
		{"book 1", 1, http.StatusOK, "2\n"},
		{"book 1", 2, http.StatusOK, "2\n"}, // again
		{"book 2", 2, http.StatusOK, "3\n"},
	} {
		status, body := askAgency(a, call.key, call.token)
		require.Equal(t, call.status, status)
		require.Equal(t, call.body, body)
	}
	status, _ := askAgency(a, "book 3", 1)
	require.Equal(t, http.StatusPreconditionFailed, status)
	effects, accepted := a.done()
	require.Len(t, effects, 3)
	require.Len(t, accepted, 4)
	require.Empty(t, checkEffects(effects))
	require.Empty(t, checkAccepted(accepted))
	require.Equal(t, "outside: 3 effects of 5 calls; 1 calls repeated, 1 late ones refused; duplicates: 0, accepted from the dead: 0", a.String())
}
