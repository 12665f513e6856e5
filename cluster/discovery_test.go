package cluster_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
)

// A zone is a DNS server on the loopback interface, by UDP and by TCP.
type zone struct {
	resolver *net.Resolver

	mu      sync.Mutex // guards the fields below
	records []dns.RR
	fails   int           // code of every answer, if not 0
	silent  bool          // the server does not answer
	asked   chan struct{} // receives an element for each question without an answer
	streams int           // number of questions by TCP
}

// serve starts a zone with records in the notation of zone files.
func serve(t *testing.T, records ...string) *zone {
	t.Helper()
	z := &zone{asked: make(chan struct{}, 100)}
	z.set(t, records...)
	packets, streams := onePort(t)
	for _, server := range []*dns.Server{{PacketConn: packets, Handler: z}, {Listener: streams, Handler: z}} {
		ready := make(chan struct{})
		server.NotifyStartedFunc = func() { close(ready) }
		ended := make(chan error)
		go func() { ended <- server.ActivateAndServe() }()
		<-ready
		t.Cleanup(func() {
			require.NoError(t, server.Shutdown())
			require.NoError(t, <-ended)
		})
	}
	z.resolver = &net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, packets.LocalAddr().String())
	}}
	return z
}

// onePort listens at a port that is free for datagrams and for streams. The operating system
// chooses one that is free for datagrams; another program may use it for streams.
func onePort(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 100 {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		streams, err := net.Listen("tcp", packets.LocalAddr().String())
		if err == nil {
			return packets, streams
		}
		require.NoError(t, packets.Close())
	}
	t.Fatal("no port is free for datagrams and for streams")
	return nil, nil
}

func (z *zone) set(t *testing.T, records ...string) {
	t.Helper()
	z.mu.Lock()
	defer z.mu.Unlock()
	z.records = nil
	for _, record := range records {
		rr, err := dns.NewRR(record)
		require.NoError(t, err)
		z.records = append(z.records, rr)
	}
}

// ServeDNS answers like a real server: a name that has only other records is no error, and an
// answer that is too large for a datagram is truncated.
func (z *zone) ServeDNS(w dns.ResponseWriter, question *dns.Msg) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.silent {
		z.asked <- struct{}{}
		return
	}
	answer := new(dns.Msg)
	answer.SetRcode(question, dns.RcodeNameError)
	answer.Authoritative = true
	for _, rr := range z.records {
		if strings.EqualFold(rr.Header().Name, question.Question[0].Name) {
			answer.Rcode = dns.RcodeSuccess
			if rr.Header().Rrtype == question.Question[0].Qtype {
				answer.Answer = append(answer.Answer, rr)
			}
		}
	}
	if z.fails != 0 {
		answer.SetRcode(question, z.fails)
	}
	if _, datagram := w.RemoteAddr().(*net.UDPAddr); datagram {
		answer.Truncate(dns.MinMsgSize)
	} else {
		z.streams++
	}
	_ = w.WriteMsg(answer) // the client may be gone
}

func (z *zone) fail(code int) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.fails = code
}

func (z *zone) hush() {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.silent = true
}

type finder interface {
	Find(ctx context.Context) ([]string, error)
}

func finds(t *testing.T, f finder, want ...string) {
	t.Helper()
	found, err := f.Find(t.Context())
	require.NoError(t, err)
	slices.Sort(found)
	found = slices.Compact(found) // as the node does
	require.Equal(t, want, found)
}

func TestDNSFindsAllAddressesOfAName(t *testing.T) {
	z := serve(t,
		"nodes.test. A 10.0.0.2", "nodes.test. A 10.0.0.1", "nodes.test. A 10.0.0.2",
		"nodes.test. AAAA fd00::1", "other.test. A 10.9.9.9",
	)
	finds(t, cluster.DNS{Host: "nodes.test.", Port: 7355, Resolver: z.resolver}, "10.0.0.1:7355", "10.0.0.2:7355", "[fd00::1]:7355")
	finds(t, cluster.DNS{Host: "nodes.test.", Port: 7355, Family: "ip4", Resolver: z.resolver}, "10.0.0.1:7355", "10.0.0.2:7355")
	finds(t, cluster.DNS{Host: "nodes.test.", Port: 7355, Family: "ip6", Resolver: z.resolver}, "[fd00::1]:7355")
}

func TestAnAddressIsFoundAsItIs(t *testing.T) {
	finds(t, cluster.DNS{Host: "10.1.2.3", Port: 1}, "10.1.2.3:1")
}

func TestANameThatDoesNotExistHasNoAddresses(t *testing.T) {
	z := serve(t, "nodes.test. TXT hello")
	for _, name := range []string{"nodes.test.", "missing.test."} {
		finds(t, cluster.DNS{Host: name, Port: 7355, Resolver: z.resolver})
		finds(t, cluster.SRV{Service: "cluster", Name: name, Resolver: z.resolver})
	}
}

func TestWhatIsFoundFollowsTheRecords(t *testing.T) {
	z := serve(t)
	d := cluster.DNS{Host: "nodes.test.", Port: 7355, Resolver: z.resolver}
	finds(t, d)
	z.set(t, "nodes.test. A 10.0.0.1")
	finds(t, d, "10.0.0.1:7355")
	z.set(t, "nodes.test. A 10.0.0.1", "nodes.test. A 10.0.0.2")
	finds(t, d, "10.0.0.1:7355", "10.0.0.2:7355")
	z.set(t, "nodes.test. A 10.0.0.2")
	finds(t, d, "10.0.0.2:7355")
}

func TestAServerThatFailsIsAnError(t *testing.T) {
	z := serve(t, "nodes.test. A 10.0.0.1", "_cluster._tcp.nodes.test. SRV 0 0 7355 nodes.test.")
	for _, code := range []int{dns.RcodeServerFailure, dns.RcodeRefused} {
		z.fail(code)
		for _, f := range []finder{
			cluster.DNS{Host: "nodes.test.", Port: 7355, Resolver: z.resolver},
			cluster.SRV{Service: "cluster", Name: "nodes.test.", Resolver: z.resolver},
		} {
			found, err := f.Find(t.Context())
			require.ErrorContains(t, err, "nodes.test", dns.RcodeToString[code])
			require.ErrorAs(t, err, new(*net.DNSError))
			require.Empty(t, found)
		}
	}
}

func TestAServerThatDoesNotAnswerIsAnErrorWhenTheContextEnds(t *testing.T) {
	z := serve(t)
	z.hush()
	for _, f := range []finder{
		cluster.DNS{Host: "nodes.test.", Port: 7355, Family: "ip4", Resolver: z.resolver},
		cluster.SRV{Service: "cluster", Name: "nodes.test.", Resolver: z.resolver},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		go func() {
			<-z.asked
			cancel()
		}()
		found, err := f.Find(ctx)
		require.Error(t, err)
		require.Empty(t, found)
	}
}

func TestAnAnswerTooLargeForADatagramComesByTCP(t *testing.T) {
	var records, want []string
	for i := range 200 {
		records = append(records, fmt.Sprintf("nodes.test. A 10.0.0.%d", i+1))
		want = append(want, fmt.Sprintf("10.0.0.%d:7355", i+1))
	}
	z := serve(t, records...)
	found, err := cluster.DNS{Host: "nodes.test.", Port: 7355, Family: "ip4", Resolver: z.resolver}.Find(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, want, found)
	z.mu.Lock()
	defer z.mu.Unlock()
	require.Positive(t, z.streams)
}

func TestMoreThanAThousandRecordsAreAnError(t *testing.T) {
	var records []string
	for i := range 1001 {
		records = append(records, fmt.Sprintf("_cluster._tcp.nodes.test. SRV 0 0 7355 n%d.test.", i))
	}
	_, err := cluster.SRV{Service: "cluster", Name: "nodes.test.", Resolver: serve(t, records...).resolver}.Find(t.Context())
	require.ErrorContains(t, err, "has 1001 records; at most 1000 are allowed")
}

func TestSRVFindsHostsAndPorts(t *testing.T) {
	z := serve(t,
		"_cluster._tcp.nodes.test. SRV 10 5 7356 B.nodes.test.",
		"_cluster._tcp.nodes.test. SRV 0 5 7355 a.nodes.test.",
		"_cluster._tcp.nodes.test. SRV 0 5 7355 gone.nodes.test.",
		"_cluster._tcp.nodes.test. SRV 0 0 0 nowhere.nodes.test.",
		"_none._tcp.nodes.test. SRV 0 0 7355 .",
		"a.nodes.test. A 10.0.0.1", "b.nodes.test. A 10.0.0.2", "b.nodes.test. AAAA fd00::2",
	)
	s := cluster.SRV{Service: "cluster", Name: "nodes.test.", Resolver: z.resolver}
	finds(t, s, "a.nodes.test:7355", "b.nodes.test:7356", "gone.nodes.test:7355")
	finds(t, cluster.SRV{Name: "_cluster._tcp.nodes.test.", Resolver: z.resolver}, "a.nodes.test:7355", "b.nodes.test:7356", "gone.nodes.test:7355")
	finds(t, cluster.SRV{Service: "none", Name: "nodes.test.", Resolver: z.resolver})
	s.Resolve = true
	finds(t, s, "10.0.0.1:7355", "10.0.0.2:7356", "[fd00::2]:7356")
	s.Family = "ip4"
	finds(t, s, "10.0.0.1:7355", "10.0.0.2:7356")
}

func TestKubernetesFindsThePodsOfAHeadlessService(t *testing.T) {
	z := serve(t,
		"nodes.shop.svc.cluster.local. A 10.0.0.1", "nodes.shop.svc.cluster.local. A 10.0.0.2",
		"_cluster._tcp.nodes.shop.svc.cluster.local. SRV 0 50 7355 shop-0.nodes.shop.svc.cluster.local.",
		"_cluster._tcp.nodes.shop.svc.cluster.local. SRV 0 50 7355 shop-1.nodes.shop.svc.cluster.local.",
		"shop-0.nodes.shop.svc.cluster.local. A 10.0.0.1", "shop-1.nodes.shop.svc.cluster.local. A 10.0.0.2",
		"nodes.default.svc.example. A 10.0.0.9",
	)
	numbers := []string{"10.0.0.1:7355", "10.0.0.2:7355"}
	finds(t, cluster.Kubernetes{Service: "nodes", Namespace: "shop", Port: 7355, Resolver: z.resolver}, numbers...)
	finds(t, cluster.Kubernetes{Service: "nodes", Namespace: "shop", PortName: "cluster", Resolver: z.resolver}, numbers...)
	finds(t, cluster.Kubernetes{Service: "nodes", Namespace: "shop", PortName: "cluster", Names: true, Resolver: z.resolver},
		"shop-0.nodes.shop.svc.cluster.local:7355", "shop-1.nodes.shop.svc.cluster.local:7355")
	finds(t, cluster.Kubernetes{Service: "nodes", Port: 1, ClusterDomain: "example", Resolver: z.resolver}, "10.0.0.9:1")
	finds(t, cluster.Kubernetes{Service: "missing", Namespace: "shop", Port: 7355, Resolver: z.resolver})
}

func TestFindSaysWhatIsMissing(t *testing.T) {
	for want, f := range map[string]finder{
		"DNS.Host":           cluster.DNS{Port: 1},
		"DNS.Port is 0":      cluster.DNS{Host: "a"},
		"DNS.Port is 70000":  cluster.DNS{Host: "a", Port: 70000},
		"SRV.Name":           cluster.SRV{Service: "cluster"},
		"Kubernetes.Service": cluster.Kubernetes{Port: 1},
		"set one of":         cluster.Kubernetes{Service: "a", Port: 1, PortName: "b"},
		"Kubernetes.Port ":   cluster.Kubernetes{Service: "a"},
		"needs PortName":     cluster.Kubernetes{Service: "a", Port: 1, Names: true},
	} {
		_, err := f.Find(t.Context())
		require.ErrorContains(t, err, want)
	}
}
