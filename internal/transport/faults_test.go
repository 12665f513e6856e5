package transport_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/memnet"
	"github.com/understudy-go/understudy/remote"
)

// Whatever happens to the network and to the nodes, no message from one node to another arrives
// twice or before an earlier one. Each message arrives or is a dead letter. It can be both only
// when the sender says that it is in doubt.
func TestNoMessageIsDoubledOvertakenOrLostSilently(t *testing.T) {
	for seed := range effort.Count[uint64](5, 20, 200) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			bubble(t, func(t *testing.T, n *memnet.Network) {
				newFaulty(t, n, seed).run()
			})
		})
	}
}

// faulty sends numbers from each node to each other, while things go wrong.
type faulty struct {
	t        testing.TB
	net      *memnet.Network
	rand     *rand.Rand
	resolver []string
	nodes    map[string]*testNode
	all      []*testNode // those that have crashed included
	sent     map[route]int
	got      map[route]*collector[int]
}

type route struct{ from, to string }

func newFaulty(t testing.TB, n *memnet.Network, seed uint64) *faulty {
	f := &faulty{
		t:        t,
		net:      n,
		rand:     rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // it makes a test repeatable
		resolver: []string{"a", "b", "c"},
		nodes:    map[string]*testNode{},
		sent:     map[route]int{},
		got:      map[route]*collector[int]{},
	}
	for _, name := range f.resolver {
		f.start(name)
	}
	return f
}

// start starts a node, or the next incarnation of one, with an inbox for each other one.
func (f *faulty) start(name string) {
	x := listen(f.t, transport.Config{Bind: name + ":7355", Network: f.net.Host(name)})
	for _, from := range f.resolver {
		r := route{from, name}
		if f.got[r] == nil {
			f.got[r] = &collector[int]{}
		}
		spawnCollector(x, f.got[r], "from-"+from)
	}
	x.Serve(x.sys)
	f.nodes[name] = x
	f.all = append(f.all, x)
}

func (f *faulty) run() {
	for range 300 {
		f.tell()
		f.goWrong()
		time.Sleep(time.Duration(f.rand.IntN(20)) * time.Millisecond)
	}
	f.net.Heal()
	for _, name := range f.resolver {
		f.net.Resume(name)
	}
	time.Sleep(time.Minute)
	for r, count := range f.sent {
		f.check(r, count)
	}
}

func (f *faulty) tell() {
	for _, from := range f.resolver {
		for _, to := range f.resolver {
			if r := (route{from, to}); from != to && f.rand.IntN(2) == 0 {
				for range f.rand.IntN(5) {
					f.number(r)
				}
			}
		}
	}
}

func (f *faulty) number(r route) {
	from, to := f.nodes[r.from], f.nodes[r.to]
	ref[int](from, to, "/user/from-"+r.from).Tell(f.sent[r])
	f.sent[r]++
}

func (f *faulty) goWrong() {
	name := f.resolver[f.rand.IntN(len(f.resolver))]
	other := f.resolver[f.rand.IntN(len(f.resolver))]
	switch f.rand.IntN(60) {
	case 0:
		f.net.Partition([]string{name})
	case 1:
		f.net.OneWay(name, other)
	case 2, 3, 4:
		f.net.Heal()
	case 5:
		f.net.Pause(name)
	case 6, 7, 8:
		f.net.Resume(name)
	case 9:
		f.net.Crash(name)
		_ = f.nodes[name].Close() // its sockets are gone already
		synctest.Wait()           // its collectors have had what was delivered
		f.nodes[name].stop()
		f.start(name)
	case 10:
		f.nodes[name].Rename(f.rand.Uint64() | 1)
	case 11:
		f.nodes[name].Forget(f.nodes[other].Self())
	}
}

// check tells what became of the numbers of a route.
func (f *faulty) check(r route, count int) {
	checkIdentity := map[int]bool{}
	last := -1
	for _, i := range f.got[r].got() {
		require.Greater(f.t, i, last, "%v: doubled or overtaken", r)
		checkIdentity[i], last = true, i
	}
	lost := map[int]error{}
	for _, x := range f.all {
		for _, l := range x.lost.got() {
			if l.Recipient == "understudy://test@"+r.to+":7355/user/from-"+r.from {
				lost[l.Message.(int)] = l.Reason
			}
		}
	}
	for i := range count {
		require.True(f.t, checkIdentity[i] || lost[i] != nil, "%v: %d was lost silently", r, i)
		require.False(f.t, checkIdentity[i] && lost[i] != nil && !errors.Is(lost[i], remote.ErrInDoubt), "%v: %d arrived, and was lost: %v", r, i, lost[i])
	}
}
