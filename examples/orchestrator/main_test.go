package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// asProgram is the environment variable that makes the test binary run as the example. The stores
// inherit it.
const asProgram = "UNDERSTUDY_ORCHESTRATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// told lists the lines that the timeline must contain, in this order.
var told = []string{
	"submitted storage/photos: LeastLoaded chose store-a; if that dies: WaitForReturn(30s)",
	"submitted storage/docs: LeastLoaded chose store-b; if that dies: Redistribute()",
	"photos: ls / = [vacation family]",
	"photos: read beach.jpg in /vacation = /mnt/photos/vacation/beach.jpg",
	"docs: ls /reports = [q1.pdf q2.pdf]",
	"kill -9 store-a",
	"storage/photos: waiting for return, store-a",
	"store-a starts, with the volume photos",
	"storage/photos: running, store-a",
	"kill -9 store-b",
	"storage/docs: unplaced",
	`storage/docs is nowhere: placement: no eligible nodes for "storage/docs"`,
	"store-c starts, with the volume docs",
	"storage/docs: running, store-c",
	"photos: ls / = [vacation family]",
	"docs: ls /reports = [q1.pdf q2.pdf]",
	"volume=docs",
}

// requireTold checks that the output contains all of them, in order.
func requireTold(t *testing.T, out []byte) {
	t.Helper()
	rest := out
	for _, line := range told {
		i := bytes.Index(rest, []byte(line))
		require.GreaterOrEqual(t, i, 0, "%q is missing, or out of order, in\n%s", line, out)
		rest = rest[i+len(line):]
	}
}

// The story with real processes that are killed.
func TestTheProgramTellsItsStoryInLessThanTwentySeconds(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"=1")
	began := time.Now()
	out, err := cmd.CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	require.Less(t, time.Since(began), 20*time.Second)
	requireTold(t, out)
}

// inMemory runs stores on an in-memory network, in virtual time.
type inMemory struct{ *clustertest.Cluster }

func (s *inMemory) Start(name string) error {
	_, err := takePart(s.Add(name, equipped))
	return err
}

func (s *inMemory) Kill(name string) error {
	s.Crash(name)
	return nil
}

func equipped(name string, cfg *cluster.Config) {
	if _, store := volumes[name]; store || name == gatewayNode {
		equip(cfg)
	}
}

// inVirtualTime runs f with a story that has not begun, in a synctest bubble.
func inVirtualTime(t *testing.T, f func(t *testing.T, s *story, stores *inMemory, out *bytes.Buffer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		stores := &inMemory{clustertest.Start(t, 1)}
		gateway := stores.Add(gatewayNode, equipped)
		stores.Leave("n1")
		coordinator, err := takePart(gateway)
		require.NoError(t, err)
		out := &bytes.Buffer{}
		f(t, &story{node: gateway, coordinator: coordinator, stores: stores, out: out}, stores, out)
	})
}

func TestTheStoryInVirtualTime(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, s *story, _ *inMemory, out *bytes.Buffer) {
		err := s.tell(t.Context())
		t.Logf("\n%s", out.Bytes())
		require.NoError(t, err)
		requireTold(t, out.Bytes())
	})
}

// Asks all the time while a store dies and returns fail only while it is away, and none waits
// longer than its deadline.
func TestQuestionsFailOnlyWhileTheStoreIsAway(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, s *story, _ *inMemory, _ *bytes.Buffer) {
		const patience = time.Second
		ctx := t.Context()
		require.NoError(t, s.begin(ctx))
		require.NoError(t, s.submit(ctx))
		var (
			asking sync.WaitGroup
			mu     sync.Mutex // guards failed and answered
			failed []time.Time
			good   int
		)
		ask := func() {
			began := time.Now()
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			listed, err := s.list(ctx, "storage/photos", "/")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, began)
			} else if len(listed) == 2 {
				good++
			}
			require.LessOrEqual(t, time.Since(began), patience)
		}
		stop := make(chan struct{})
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(100 * time.Millisecond):
					asking.Go(ask)
				}
			}
		})
		time.Sleep(5 * time.Second)
		killed := time.Now()
		require.NoError(t, s.photosReturn(ctx))
		back := time.Now()
		time.Sleep(5 * time.Second)
		close(stop)
		asking.Wait()
		require.NotEmpty(t, failed)
		require.Greater(t, good, 90)
		for _, at := range failed {
			require.False(t, at.Add(patience).Before(killed) || at.After(back), "at %v, killed %v, back %v", at, killed, back)
		}
	})
}

// When the gateway dies, another gateway leads, knows the specs and accepts new ones.
func TestTheNextGatewayLeads(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, s *story, stores *inMemory, _ *bytes.Buffer) {
		ctx := t.Context()
		require.NoError(t, s.begin(ctx))
		require.NoError(t, s.submit(ctx))
		node := stores.Add("gateway-2", func(_ string, cfg *cluster.Config) { cfg.Roles = []string{"edge"} })
		coordinator, err := takePart(node)
		require.NoError(t, err)
		require.NoError(t, stores.Kill(gatewayNode))
		time.Sleep(time.Minute)
		leader, ok := coordinator.Leader()
		require.True(t, ok)
		require.Equal(t, "gateway-2", leader)
		next := &story{node: node, coordinator: coordinator, stores: stores, out: io.Discard, shown: map[string]string{}}
		require.NoError(t, next.query(ctx))
		_, err = coordinator.Submit(ctx, storageAgent.Spec("storage/more", docs))
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.True(t, next.state(ctx, "storage/more", placement.Running))
	})
}
