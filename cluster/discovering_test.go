package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/cluster/discovery"
)

// discovers returns a change of configurations to discovery by a function alone.
func discovers(find discovery.Func) func(*Config) {
	return func(c *Config) { c.Seeds, c.Discovery = nil, find }
}

// growing returns a discovery that finds one more address every second.
func growing(addresses ...string) discovery.Func {
	begin := time.Now()
	return func(context.Context) ([]string, error) {
		n := int(time.Since(begin) / time.Second)
		return addresses[:min(n, len(addresses))], nil
	}
}

func TestNodesThatFindEachOtherLittleByLittleFormOneCluster(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.tune = discovers(growing("n2:7355", "n1:7355", "n3:7355"))
		begin := time.Now()
		f.start("n1", "n2", "n3")
		require.GreaterOrEqual(t, time.Since(begin), 3*time.Second+findStable, "not before nothing new is found")
		require.Less(t, time.Since(begin), 15*time.Second)
		f.await(3*time.Second, "n1", "n2", "n3")
		leader, _ := f.nodes["n3"].View().Leader()
		require.Equal(t, "n1", leader.Name)
		require.Empty(t, f.nodes["n1"].View().Waiting())
	})
}

func TestANodeThatIsFoundLaterJoins(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		addresses := []string{"n1:7355", "n2:7355"}
		f.tune = discovers(func(context.Context) ([]string, error) { return addresses, nil })
		f.start("n1", "n2")
		begin := time.Now()
		f.start("n3")
		require.Less(t, time.Since(begin), 3*time.Second, "nobody need find it")
		f.await(3*time.Second, "n1", "n2", "n3")
	})
}

func TestSeedsAndDiscoveryWorkTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.tune = func(c *Config) {
			c.Seeds, c.Discovery, c.MinSeeds = []string{"n2:7355"}, discovery.Static{"n1:7355", "n3:7355"}, 3
		}
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
	})
}

func TestClustersThatDiscoveryHasKeptApartBecomeOne(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		var met atomic.Bool
		for _, name := range []string{"n1", "n2"} {
			f.tune = func(c *Config) {
				discovers(func(context.Context) ([]string, error) {
					if met.Load() {
						return []string{"n1:7355", "n2:7355"}, nil
					}
					return []string{address(name)}, nil
				})(c)
				c.MinSeeds = 1
			}
			f.start(name)
			f.await(0, name)
		}
		met.Store(true)
		f.await(findSeldom+10*time.Second, "n1", "n2")
	})
}

func TestStartSaysWhatDiscoveryLacks(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		for want, find := range map[string]discovery.Func{
			"found 1 of at least 2 nodes (Config.MinSeeds)": func(context.Context) ([]string, error) { return []string{"n1:7355"}, nil },
			"found 0 of at least 2":                         func(context.Context) ([]string, error) { return nil, nil },
			"discovery fails: no registry":                  func(context.Context) ([]string, error) { return nil, errors.New("no registry") },
			"deadline exceeded": func(ctx context.Context) ([]string, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			`"n2", which is not the host`: func(context.Context) ([]string, error) { return []string{"n1:7355", "n2"}, nil },
			"at most 1000":                func(context.Context) ([]string, error) { return many(maxFound + 1), nil },
			"set Config.Advertise":        func(context.Context) ([]string, error) { return []string{"10.0.0.1:1", "10.0.0.2:1"}, nil },
			"n2:7355 it cannot be known":  func(context.Context) ([]string, error) { return []string{"n1:7355", "n2:7355"}, nil },
		} {
			f.tune = discovers(find)
			f.net.Partition([]string{"n1"}, []string{"n2"})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			_, err := Start(ctx, f.config("n1"))
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, want)
		}
	})
}

func many(n int) []string {
	var addresses []string
	for i := range n {
		addresses = append(addresses, fmt.Sprintf("h%d:1", i))
	}
	return addresses
}

func TestAStartThatEndsEndsTheSearch(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		searching := make(chan struct{}, 1)
		f.tune = discovers(func(ctx context.Context) ([]string, error) {
			searching <- struct{}{}
			<-ctx.Done()
			return nil, context.Cause(ctx)
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-searching
			cancel()
		}()
		begin := time.Now()
		_, err := Start(ctx, f.config("n1"))
		require.ErrorIs(t, err, context.Canceled)
		require.Less(t, time.Since(begin), searchTime)
	})
}

func TestAKindOfFailureOfDiscoveryIsLoggedOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		core, logs := observer.New(zap.InfoLevel)
		turn := 0
		f.tune = func(c *Config) {
			c.Logger, c.Seeds = zap.New(core), nil
			c.Discovery = discovery.Func(func(context.Context) ([]string, error) {
				turn++
				switch {
				case turn%10 == 0:
					return []string{"n1:7355"}, nil
				case turn%2 == 0:
					return nil, &net.DNSError{Err: fmt.Sprintf("read udp 127.0.0.1:%d: i/o timeout", turn), IsTimeout: true}
				}
				return nil, &net.DNSError{Err: "server misbehaving", Server: fmt.Sprint(turn)}
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 29*time.Second+500*time.Millisecond)
		defer cancel()
		_, err := Start(ctx, f.config("n1"))
		require.Error(t, err)
		require.Equal(t, 30, turn)
		require.Equal(t, 6, logs.FilterMessage("discovery fails").Len(), "two kinds, three times after it has worked or begun")
		require.Equal(t, 3, logs.FilterMessage("discovery has found").Len())
	})
}

func TestTheFirstSeedIsDeadAndAnOperatorFoundsTheCluster(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := Start(ctx, f.config("n2"))
		require.ErrorContains(t, err, "only the first one founds a cluster")
		f.tune = func(c *Config) { c.ForceForm = c.NodeID == "n2" }
		f.start("n2", "n3")
		f.await(3*time.Second, "n2", "n3")
		f.start("n1")
		f.await(3*time.Second, "n1", "n2", "n3")
	})
}

func TestANodeThatIsForcedJoinsIfThereIsACluster(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.start("n1", "n3")
		f.tune = func(c *Config) { c.ForceForm = true }
		f.start("n2")
		f.await(3*time.Second, "n1", "n2", "n3")
	})
}

func TestTwoClustersByForceBecomeOne(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.net.Partition([]string{"n1"}, []string{"n2", "n3"})
		f.tune = func(c *Config) { c.ForceForm = c.NodeID != "n3" }
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1")
		f.await(3*time.Second, "n2", "n3")
		time.Sleep(long(3 * time.Minute))
		f.net.Heal()
		f.await(8*time.Second, "n1", "n2", "n3")
	})
}

func TestACutHealsThroughDiscovery(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fleet) {
		f.tune = discovers(growing("n1:7355", "n2:7355", "n3:7355"))
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
		f.net.Partition([]string{"n1"}, []string{"n2", "n3"})
		time.Sleep(long(10 * time.Minute))
		f.await(0, "n2", "n3")
		require.Empty(t, f.nodes["n1"].View().Members, "it founds nothing while it finds the others")
		f.net.Heal()
		f.await(5*time.Second, "n1", "n2", "n3")
	})
}

func TestACutOfAnHourHeals(t *testing.T) {
	atLength(t)
	w := newWorld(t, 1, 3)
	for _, n := range w.nodes {
		n.start()
	}
	w.run(5 * time.Second)
	w.split(func(from, to int) bool { return from == 0 || to == 0 }, time.Hour, "n1 is cut off")
	w.run(time.Hour)
	require.Equal(t, seeking, w.nodes[0].machine.phase)
	w.run(8 * time.Second)
	w.checkOneCluster()
}

// hosts resolves names in tests.
type hosts map[string][]string

func (h hosts) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	var ips []netip.Addr
	for _, text := range h[host] {
		if ip := netip.MustParseAddr(text); ip.Is4() == (network == "ip4") {
			ips = append(ips, ip)
		}
	}
	if ips == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return ips, nil
}

func TestASeedMustBeOneNode(t *testing.T) {
	names := hosts{"one": {"10.0.0.1", "fd00::1"}, "four": {"10.0.0.1", "10.0.0.2"}, "six": {"10.0.0.1", "fd00::1", "fd00::2"}}
	check := func(seeds ...string) error { return Config{Seeds: seeds}.checkSeeds(t.Context(), names) }
	require.NoError(t, check("one:7355", "later:7355", "127.0.0.1:7355"))
	require.ErrorContains(t, check("one:7355", "four:7355"), `four:7355 has 2 addresses, and a seed must be one node; for many, set Config.Discovery to discovery.DNS{Host: "four", Port: 7355}`)
	require.ErrorContains(t, check("six:7355"), "six:7355 has 2 addresses")
	require.NoError(t, check())
}

// With discovery that is late, wrong and broken for a while, two clusters may be founded,
// but not for good.
func TestRandomHistoriesOfDiscoveryEndInOneCluster(t *testing.T) {
	atLength(t)
	for seed := *firstSeed; seed < *firstSeed+max(*count/5, 1); seed++ {
		simulateDiscovery(t, seed)
	}
}

func simulateDiscovery(t *testing.T, seed uint64) {
	size := 3 + 2*int(seed%3)
	w := newWorld(t, seed, size)
	w.note("seed %d, %d nodes, discovery", seed, size)
	need := 1 + w.random.IntN(size/2+1)
	w.tune = func(set *rules) { set.seeds, set.discovers, set.minSeeds = nil, true, need }
	r := newRegistry(w)
	w.finds = r.finds
	for _, n := range w.nodes {
		w.after(w.between(0, 20*time.Second), n.start)
	}
	w.run(30 * time.Second)
	for _, f := range draw(seed, size, int(seed%6)).faults {
		w.apply(f)
		w.run(f.then)
	}
	w.run(20 * time.Second)
	w.heal()
	w.run(30 * time.Second)
	w.heal()
	r.honest = true
	w.run(vanishAfter + findSeldom + 30*time.Second)
	w.checkOneCluster()
}

// A registry is what discovery asks in a world.
type registry struct {
	world  *world
	delays map[[2]int]time.Duration // until a node finds another that has started
	began  map[int]time.Time
	seen   map[int]time.Time // when a node ran last
	ghost  string            // an address where nobody ever lives; it is found for a while
	honest bool              // tell the truth from now on
}

func newRegistry(w *world) *registry {
	r := &registry{world: w, delays: map[[2]int]time.Duration{}, began: map[int]time.Time{}, seen: map[int]time.Time{}}
	for i := range w.nodes {
		for j := range w.nodes {
			r.delays[[2]int{i, j}] = w.between(0, 30*time.Second)
		}
		r.delays[[2]int{i, i}] = w.between(0, time.Second)
	}
	r.ghost = []string{"", "a:1", "z:1"}[w.random.IntN(3)]
	return r
}

func (r *registry) finds(node int) (addresses []string, failed bool) {
	w := r.world
	for i, n := range w.nodes {
		if n.machine != nil {
			r.seen[i] = w.now
			if r.began[i].IsZero() {
				r.began[i] = w.now
			}
		}
		if r.shows(node, i) {
			addresses = append(addresses, w.address(i))
		}
	}
	if r.honest {
		return addresses, false
	}
	if r.ghost != "" && w.now.Sub(w.begin) < 40*time.Second {
		addresses = append(addresses, r.ghost)
	}
	if len(addresses) > 0 && w.random.IntN(20) == 0 {
		i := w.random.IntN(len(addresses))
		addresses = slices.Delete(addresses, i, i+1)
	}
	return addresses, w.random.IntN(10) == 0
}

// shows reports whether one node finds another: some time after that has begun, until some
// time after it has ended.
func (r *registry) shows(node, other int) bool {
	began, ever := r.began[other]
	switch {
	case !ever:
		return false
	case r.honest:
		return r.world.nodes[other].machine != nil
	}
	return r.world.now.Sub(began) >= r.delays[[2]int{node, other}] && r.world.now.Sub(r.seen[other]) < 30*time.Second
}
