package cluster

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/memnet"
)

// A testCluster is a number of nodes in one synctest bubble.
type testCluster struct {
	t     *testing.T
	net   *memnet.Network
	mu    sync.Mutex // guards nodes while several start at once
	nodes map[string]*Node
	tune  func(*Config) // changes the Config of each node that starts
}

// inBubble runs f with nodes in virtual time, and then ends the nodes that still run.
func inBubble(t *testing.T, f func(t *testing.T, fl *testCluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fl := &testCluster{t: t, net: memnet.New(1), nodes: map[string]*Node{}, tune: func(*Config) {}}
		t.Cleanup(fl.end)
		f(t, fl)
	})
}

// end shuts all nodes down, and waits for the last goroutines of memberlist.
func (f *testCluster) end() {
	f.net.Heal()
	for _, n := range f.nodes {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := n.Shutdown(ctx); err != nil {
			f.t.Errorf("shutdown: %v", err)
		}
		cancel()
	}
	f.net.Close()
	time.Sleep(15 * time.Second)
}

func seeds() []string {
	var all []string
	for i := range 5 {
		all = append(all, address(fmt.Sprintf("n%d", i+1)))
	}
	return all
}

func address(name string) string { return name + ":7355" }

func (f *testCluster) config(name string) Config {
	cfg := Config{
		Name:    "test",
		NodeID:  name,
		Bind:    address(name),
		Seeds:   seeds(),
		Network: f.net.Host(name),
		Logger:  logger(f.t),
	}
	f.tune(&cfg)
	return cfg
}

func (f *testCluster) start(names ...string) {
	f.t.Helper()
	type result struct {
		name string
		node *Node
		err  error
	}
	results := make(chan result)
	for _, name := range names {
		cfg := f.config(name)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			n, err := Start(ctx, cfg)
			results <- result{name, n, err}
		}()
	}
	for range names {
		r := <-results
		if r.err == nil {
			f.nodes[r.name] = r.node
		}
		require.NoError(f.t, r.err, r.name)
	}
}

// crash kills a node and its host: the node sends nothing more.
func (f *testCluster) crash(name string) {
	f.t.Helper()
	f.net.PowerOff(name)
	n := f.nodes[name]
	delete(f.nodes, name)
	n.abort(ErrEnded)
	_ = n.Shutdown(f.t.Context()) // its sockets are closed already
}

// await waits until all nodes see exactly the given members, all up and reachable, with one leader.
func (f *testCluster) await(within time.Duration, names ...string) {
	f.t.Helper()
	deadline := time.Now().Add(within)
	for {
		why := f.differs(names)
		if why == "" {
			return
		}
		if time.Now().After(deadline) {
			require.Fail(f.t, "no agreement", why)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// differs returns why the nodes do not agree.
func (f *testCluster) differs(names []string) string {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	first := f.nodes[names[0]].View()
	for _, name := range names {
		if why := disagreement(first, f.nodes[name].View(), wanted); why != "" {
			return name + ": " + why
		}
	}
	return ""
}

func disagreement(first, v View, wanted map[string]bool) string {
	if len(v.Members) != len(wanted) || len(first.Members) != len(wanted) {
		return fmt.Sprintf("%d members", len(v.Members))
	}
	for i, m := range v.Members {
		if other := first.Members[i]; !wanted[m.Name] || m.Status != Up || m.ID() != other.ID() || m.UpNumber != other.UpNumber {
			return fmt.Sprintf("%s is %v, number %d", m.Name, m.Status, m.UpNumber)
		}
	}
	leader, _ := v.Leader()
	if other, _ := first.Leader(); leader.ID() != other.ID() {
		return "another leader: " + leader.Name
	}
	if !v.Converged || len(v.Unreachable()) > 0 {
		return "not converged"
	}
	return ""
}

// logger writes to the log of the test if UNDERSTUDY_LOG names a level.
func logger(t *testing.T) *zap.Logger {
	level, err := zapcore.ParseLevel(os.Getenv("UNDERSTUDY_LOG"))
	if err != nil || os.Getenv("UNDERSTUDY_LOG") == "" {
		return zap.NewNop()
	}
	start := time.Now()
	encoder := zap.NewDevelopmentEncoderConfig()
	encoder.EncodeTime = func(at time.Time, e zapcore.PrimitiveArrayEncoder) { e.AppendString(at.Sub(start).String()) }
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(encoder), zapcore.AddSync(logWriter{t}), level))
}

type logWriter struct{ t *testing.T }

func (w logWriter) Write(b []byte) (int, error) {
	w.t.Logf("%s", b)
	return len(b), nil
}
