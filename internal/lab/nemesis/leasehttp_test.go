package main

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
)

func TestALeaseIsTheSameOverHTTP(t *testing.T) {
	store := lease.NewMemory()
	server := httptest.NewServer(leaseHandler(store))
	defer server.Close()
	c := leaseClient{strings.TrimPrefix(server.URL, "http://")}
	claim := lease.Claim{Name: "x", Holder: "a", TTL: time.Minute, Floor: 6}
	g, err := c.Take(t.Context(), claim)
	require.NoError(t, err)
	require.Equal(t, lease.Grant{Claim: claim, Token: 7}, g)
	again, err := c.Renew(t.Context(), g)
	require.NoError(t, err)
	require.Equal(t, g, again)
	_, err = c.Take(t.Context(), lease.Claim{Name: "x", Holder: "b", TTL: time.Minute})
	require.ErrorIs(t, err, lease.ErrHeld)
	require.NoError(t, c.Release(t.Context(), g))
	require.Empty(t, store.Inspect("x").Holder)
	_, err = c.Renew(t.Context(), g)
	require.ErrorIs(t, err, lease.ErrLost)
	store.SetOutage(lease.ErrUnavailable)
	_, err = c.Take(t.Context(), claim)
	require.ErrorContains(t, err, lease.ErrUnavailable.Error())
	require.NotErrorIs(t, err, lease.ErrHeld)
}

// said returns an instance of a term that reported at some times, in milliseconds.
func said(node string, term uint64, at ...int) Run {
	r := Run{Node: node, Generation: singleton.Generation{Term: term, Seq: 1}}
	for _, ms := range at {
		r.Said = append(r.Said, time.Duration(ms)*time.Millisecond)
	}
	return r
}

func TestInstancesWithALeaseRunOneAfterTheOther(t *testing.T) {
	found, midst := checkLeased([]Run{said("b", 7, 300, 350), said("a", 5, 100, 150), said("a", 8, 400)})
	require.Empty(t, found)
	require.Zero(t, midst)
}

func TestAMessageThatWasInTheMidstMayEndLate(t *testing.T) {
	found, midst := checkLeased([]Run{said("a", 5, 100, 150, 9000), said("b", 7, 6000, 6050)})
	require.Empty(t, found)
	require.Equal(t, 1, midst)
}

func TestWhatALeaseForbidsIsFound(t *testing.T) {
	for want, runs := range map[string][]Run{
		"5.1 of a has said that it runs at 300ms, 7.1 of b at 250ms":                          {said("a", 5, 100, 150, 300), said("b", 7, 250)},
		"5.1 of a has said that it runs 2 times since 9s, 7.1 of b since 6s":                  {said("a", 5, 100, 9000, 9050), said("b", 7, 6000, 6050)},
		"generation 7.1 started on b at 100ms, and 7.1 on a at 200ms":                         {said("a", 7, 200), said("b", 7, 100)},
		"generation 7.1 started on b at 100ms, and 5.1 on a at 200ms":                         {said("a", 5, 200), said("b", 7, 100, 150)},
		"5.1 of a has said that it runs at 200ms, before which it has said nothing, 7.1 of b": {said("a", 5, 200), said("b", 7, 100, 150)},
	} {
		found, _ := checkLeased(runs)
		require.Contains(t, strings.Join(found, "\n"), want)
	}
}
