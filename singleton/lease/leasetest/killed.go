package leasetest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/singleton/lease"
)

// holding is set in the process that KilledHolder kills, to what where returned.
const holding = "LEASETEST_HOLDING"

// KilledHolder checks that the lease of a killed process expires: not at once, and no later than a
// few seconds after its TTL, which is 2 s.
//
// The killed process runs the test binary again, for the top-level test t only, up to the call of
// KilledHolder. Then it holds the lease until it is killed. Only the first process calls where,
// which makes sure that there is a server and returns how to reach it. Each process calls open
// once, with that. The lease has the name of t.
func KilledHolder(t *testing.T, where func() string, open func(t *testing.T, where string) lease.Store) {
	at, isHolder := os.LookupEnv(holding)
	if !isHolder {
		at = where()
	}
	e := newEnv(t, Backend{
		Open:  func(t *testing.T) lease.Store { return open(t, at) },
		TTL:   2 * time.Second,
		Slack: 4 * time.Second, // this is about death, not about speed
	}, false)
	if isHolder {
		hold(e)
	}

	holder, token := startHolder(e, at)
	next := e.holder(t.Name(), "next")
	e.denied(next)

	holder.Kill()
	killed := time.Now()
	e.acquires(next, e.ttl+e.slack)
	took := time.Since(killed)
	t.Logf("taken over %v after the death of the holder, TTL %v", took.Round(time.Millisecond), e.ttl)
	require.Greater(t, took, e.ttl/2, "it was renewed a quarter of its TTL before, at most")
	require.Greater(t, next.Token(), token)
	require.NoError(t, next.Release(t.Context()))
}

// hold holds the lease, and says so when it would have expired without a renewal.
func hold(e *env) {
	h := e.holder(e.Name(), "killed")
	e.acquired(h)
	e.sleep(e.ttl * 3 / 2)
	require.True(e, h.Valid())
	fmt.Println("held", h.Token())
	select {}
}

func startHolder(e *env, at string) (holder *process.Process, token uint64) {
	e.Helper()
	holder, err := process.Start(process.Self([]string{holding + "=" + at}, "-test.run=^"+e.Name()+"$", "-test.timeout=2m"))
	require.NoError(e, err)
	e.Cleanup(holder.Kill)
	said, _ := holder.Line()
	if _, err = fmt.Sscanf(said, "held %d", &token); err != nil {
		e.Fatalf("the holder does not hold it, but says: %s\n%s", said, strings.Join(holder.Rest(), "\n"))
	}
	return holder, token
}
