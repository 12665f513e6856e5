package jetstreamtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/lab/processes"
	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/persistence/jetstream"
	"github.com/understudy-go/understudy/persistence/journal"
)

// serve runs a server as a process. Its arguments are name, directory, the ports for clients and
// for other servers, and the routes.
func serve(args []string) error {
	port, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	clusterPort, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{
		ServerName: args[0], StoreDir: args[1], Host: "127.0.0.1", Port: port, JetStream: true, SyncAlways: true,
		Cluster: server.ClusterOpts{Name: "killed", Host: "127.0.0.1", Port: clusterPort},
		Routes:  server.RoutesFromStr(args[4]), NoLog: true, NoSigs: true,
	})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		return errors.New("it does not get ready")
	}
	processes.Say("ready")
	<-process.UntilEOF().Done()
	return nil
}

// serverProcesses are the three servers of one JetStream cluster, each a process.
type serverProcesses struct {
	args    [3][]string
	running [3]*processes.Child
}

func startProcesses(t *testing.T) *serverProcesses {
	t.Helper()
	p := &serverProcesses{}
	var ports, routes [3]string
	for i := range p.args {
		ports[i] = strconv.Itoa(freePort(t))
		routes[i] = (&url.URL{Scheme: "nats", Host: net.JoinHostPort("127.0.0.1", ports[i])}).String()
	}
	for i := range p.args {
		p.args[i] = []string{fmt.Sprint("server-", i), t.TempDir(), strconv.Itoa(freePort(t)), ports[i], strings.Join(routes[:], ",")}
		p.run(t, i)
	}
	for i := range p.args {
		p.await(t, i)
	}
	return p
}

// run starts the ith server with what it has stored.
func (p *serverProcesses) run(t *testing.T, i int) {
	t.Helper()
	p.running[i] = processes.Start(t, "server", p.args[i]...)
}

func (p *serverProcesses) await(t *testing.T, i int) {
	t.Helper()
	require.Equal(t, "ready", p.running[i].Line())
}

func (p *serverProcesses) connect(t *testing.T) *nats.Conn {
	t.Helper()
	urls := make([]string, len(p.args))
	for i, args := range p.args {
		urls[i] = "nats://127.0.0.1:" + args[2]
	}
	nc, err := nats.Connect(strings.Join(urls, ","), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // connections break, that is the point
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

func (p *serverProcesses) open(ctx context.Context, t *testing.T) *jetstream.Journal {
	t.Helper()
	nc := p.connect(t)
	var j *jetstream.Journal
	var err error
	for j == nil {
		call, cancel := context.WithTimeout(ctx, 5*time.Second)
		j, err = jetstream.Open(call, nc, jetstream.Config{Stream: "killed", Durability: jetstream.SyncAlways})
		cancel()
		require.NoError(t, ctx.Err(), "%v", err)
	}
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

// victims returns the servers to kill at the nth kill: in turns the leader of the stream, any
// server, and all servers.
func (p *serverProcesses) victims(nc *nats.Conn, n int) []int {
	switch n % 3 {
	case 0:
		if leader, ok := leaderOf(nc, "killed"); ok {
			return []int{leader}
		}
	case 2:
		return []int{0, 1, 2}
	}
	return []int{rand.IntN(3)}
}

// leaderOf returns the number in the name of the server that leads a stream.
func leaderOf(nc *nats.Conn, stream string) (n int, ok bool) {
	answer, err := nc.Request("$JS.API.STREAM.INFO."+stream, nil, 2*time.Second)
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(string(answer.Data), `"leader":"server-`)
	return int(rest[0] - '0'), found
}

// Writers append while servers are killed with SIGKILL and started again. In the end each
// acknowledged event is there once, in order, and nothing else is.
func TestKilledServersLoseNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	kills := effort.Count(3, 3, 60)
	p := startProcesses(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(kills)*time.Minute)
	defer cancel()
	j := p.open(ctx, t)
	const writers = 4
	var counts [writers]atomic.Int64
	errs := make([]error, writers)
	enough := make(chan struct{})
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() { errs[i] = appendUntil(ctx, enough, j, fmt.Sprint("w", i), &counts[i]) })
	}
	progress := func() {
		for i := range counts {
			for before := counts[i].Load(); counts[i].Load() < before+5; {
				require.NoError(t, ctx.Err(), "writer %d is stuck", i)
				time.Sleep(10 * time.Millisecond) // real servers are at work
			}
		}
	}
	nc := p.connect(t)
	var longest time.Duration
	for n := range kills {
		progress()
		victims := p.victims(nc, n)
		for _, i := range victims {
			p.running[i].Kill()
		}
		begin := time.Now()
		if len(victims) == 1 && n%2 == 0 {
			progress() // the other two go on
		}
		for _, i := range victims {
			p.run(t, i)
		}
		for _, i := range victims {
			p.await(t, i)
		}
		progress()
		longest = max(longest, time.Since(begin))
	}
	close(enough)
	all.Wait()
	for i, err := range errs {
		require.NoError(t, err, "writer %d", i)
	}
	reader, total := p.open(ctx, t), 0
	for i := range writers {
		n, claims := requireLinear(t, reader, fmt.Sprint("w", i))
		require.EqualValues(t, counts[i].Load(), n, "events of writer %d", i)
		require.Positive(t, claims)
		total += n
	}
	t.Logf("%d kills, %d events; until all went on: %v at most", kills, total, longest.Round(10*time.Millisecond))
}

// appendUntil appends numbered events to id, and claims it anew after each thirty.
func appendUntil(ctx context.Context, enough <-chan struct{}, j journal.Journal, id string, count *atomic.Int64) error {
	var w *writer
	for n := count.Load(); ; n++ {
		if n%30 == 0 {
			claim, err := claimPatiently(ctx, j, id)
			if err != nil {
				return err
			}
			if claim.LastSeq != uint64(n) {
				return fmt.Errorf("%d events are acknowledged, the claim says %d", n, claim.LastSeq)
			}
			w = &writer{j: j, id: id, epoch: claim.Epoch, last: claim.LastSeq}
		}
		if err := w.persist(ctx, fmt.Sprint(n)); err != nil {
			return err
		}
		count.Store(n + 1)
		select {
		case <-enough:
			return nil
		default:
		}
	}
}

func claimPatiently(ctx context.Context, j journal.Journal, id string) (journal.Claim, error) {
	for {
		call, cancel := context.WithTimeout(ctx, 2*time.Second)
		claim, err := j.Claim(call, id, journal.WriterID{1}, journal.Bounds{})
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, journal.ErrUnknown) && !errors.Is(err, journal.ErrUnavailable) {
			return claim, err
		}
	}
}

// requireLinear checks that the nth event of id says that it is the nth, and that epochs
// never go back.
func requireLinear(t *testing.T, j journal.Journal, id string) (events, claims int) {
	t.Helper()
	epoch := uint64(0)
	for r, err := range j.Read(t.Context(), id, 1, everything) {
		require.NoError(t, err)
		require.EqualValues(t, events+1, r.Seq)
		require.Equal(t, strconv.Itoa(events), string(r.Payload))
		require.GreaterOrEqual(t, r.Epoch, epoch)
		if r.Epoch > epoch {
			epoch = r.Epoch
			claims++
		}
		events++
	}
	return events, claims
}
