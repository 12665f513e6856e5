package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func discovers(find DiscoveryFunc) func(*Config) {
	return func(c *Config) { c.Seeds, c.Discovery = nil, find }
}

// growing returns a discovery that finds one more address every second.
func growing(addresses ...string) DiscoveryFunc {
	begin := time.Now()
	return func(context.Context) ([]string, error) {
		n := int(time.Since(begin) / time.Second)
		return addresses[:min(n, len(addresses))], nil
	}
}

func TestNodesThatFindEachOtherLittleByLittleFormOneCluster(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = discovers(growing("n2:7355", "n1:7355", "n3:7355"))
		begin := time.Now()
		f.start("n1", "n2", "n3")
		require.GreaterOrEqual(t, time.Since(begin), 3*time.Second+5*time.Second, "not before nothing new is found")
		require.Less(t, time.Since(begin), 15*time.Second)
		f.await(3*time.Second, "n1", "n2", "n3")
		leader, _ := f.nodes["n3"].View().Leader()
		require.Equal(t, "n1", leader.Name)
		require.Empty(t, f.nodes["n1"].View().Waiting())
	})
}

func TestANodeThatIsFoundLaterJoins(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
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
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(c *Config) {
			c.Seeds, c.Discovery, c.MinSeeds = []string{"n2:7355"}, DiscoveryFunc(func(context.Context) ([]string, error) { return []string{"n1:7355", "n3:7355"}, nil }), 3
		}
		f.start("n1", "n2", "n3")
		f.await(3*time.Second, "n1", "n2", "n3")
	})
}

func TestClustersThatDiscoveryHasKeptApartBecomeOne(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
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
		f.await(30*time.Second+10*time.Second, "n1", "n2")
	})
}

func TestStartSaysWhatDiscoveryLacks(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		for want, find := range map[string]DiscoveryFunc{
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
			"no answer from n2:7355":      func(context.Context) ([]string, error) { return []string{"n1:7355", "n2:7355"}, nil },
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
	inBubble(t, func(t *testing.T, f *testCluster) {
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
	inBubble(t, func(t *testing.T, f *testCluster) {
		core, logs := observer.New(zap.InfoLevel)
		turn := 0
		f.tune = func(c *Config) {
			c.Logger, c.Seeds = zap.New(core), nil
			c.Discovery = DiscoveryFunc(func(context.Context) ([]string, error) {
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
	inBubble(t, func(t *testing.T, f *testCluster) {
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
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.start("n1", "n3")
		f.tune = func(c *Config) { c.ForceForm = true }
		f.start("n2")
		f.await(3*time.Second, "n1", "n2", "n3")
	})
}

func TestTwoClustersByForceBecomeOne(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
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
	inBubble(t, func(t *testing.T, f *testCluster) {
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
	require.ErrorContains(t, check("one:7355", "four:7355"), `four:7355 has 2 addresses, and a seed must be one node; for many, set Config.Discovery to cluster.DNS{Host: "four", Port: 7355}`)
	require.ErrorContains(t, check("six:7355"), "six:7355 has 2 addresses")
	require.NoError(t, check())
}
