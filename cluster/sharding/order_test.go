package sharding_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A page is a message of some size.
type page struct {
	From   string
	Number int
	Pad    []byte
}

func init() { actor.RegisterType[page]("sharding_test.page") }

// A post is a cluster whose one shard keeps moving: n1, n2 and n3 host it, n4 does not, and c1 and
// c2 are clients.
type post struct {
	*clustertest.Cluster
	t       *testing.T
	regions map[string]*sharding.Region[page]
	refs    map[string]func(id string) actor.ActorRef[page]
	slow    time.Duration // how long an entity takes for a message

	mu  sync.Mutex // guards all below
	got map[string][]int
}

// inPost calls f twice: without the encoding within nodes, messages of other nodes go straight to
// the entities.
func inPost(t *testing.T, f func(t *testing.T, p *post), opts ...sharding.Option) {
	t.Helper()
	for _, with := range [][]clustertest.Option{nil, {clustertest.WithoutEncoding()}} {
		synctest.Test(t, func(t *testing.T) { f(t, openPost(t, with, opts...)) })
	}
}

func openPost(t *testing.T, with []clustertest.Option, opts ...sharding.Option) *post {
	t.Helper()
	p := &post{
		Cluster: clustertest.Start(t, 4, with...), t: t, regions: map[string]*sharding.Region[page]{},
		refs: map[string]func(string) actor.ActorRef[page]{}, got: map[string][]int{},
	}
	opts = append(opts, sharding.Shards(1), sharding.Buffer(100_000))
	for _, name := range []string{"n1", "n2", "n3"} {
		p.start(name, opts...)
	}
	p.start("n4", append(opts, sharding.ProxyOnly())...)
	for _, name := range []string{"c1", "c2"} {
		client := p.Dial(name)
		p.refs[name] = func(id string) actor.ActorRef[page] { return sharding.RefOf[page](client, "post", id) }
	}
	time.Sleep(5 * time.Second)
	p.pin("n1")
	p.Delay(3*time.Millisecond, 0)
	return p
}

func (p *post) start(name string, opts ...sharding.Option) {
	r, err := sharding.Start(p.Node(name), "post", p.entity, opts...)
	require.NoError(p.t, err)
	p.regions[name], p.refs[name] = r, r.Ref
}

func (p *post) entity(e sharding.Entity) actor.Behavior[page] {
	return behaviors.Receive(func(_ *actor.Context[page], m page) actor.Behavior[page] {
		time.Sleep(p.slow)
		p.mu.Lock()
		defer p.mu.Unlock()
		key := m.From + " to " + e.ID
		p.got[key] = append(p.got[key], m.Number)
		return behaviors.Same
	})
}

func (p *post) pin(name string) {
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	require.NoError(p.t, p.regions["n1"].Pin(ctx, name, 0))
}

// tell lets each node and client tell two entities pages of all sizes, while f runs. They are
// numbered from first.
func (p *post) tell(first, each int, sizes []int, f func()) {
	var telling sync.WaitGroup
	for from, ref := range p.refs {
		telling.Go(func() {
			for n := first; n < first+each; n++ {
				for _, id := range []string{"a", "b"} {
					size := 1
					if n%10 == len(from+id)%10 {
						size = sizes[n/10%len(sizes)]
					}
					ref(id).Tell(page{From: from, Number: n, Pad: make([]byte, size)})
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	f()
	telling.Wait()
	time.Sleep(time.Minute)
}

// requireOrder checks that no message was overtaken. Unless some may be lost, all must be there.
func (p *post) requireOrder(each int, lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for from := range p.refs {
		for _, id := range []string{"a", "b"} {
			got := p.got[from+" to "+id]
			for i := 1; i < len(got); i++ {
				if got[i] <= got[i-1] {
					p.t.Fatalf("%s to %s: %v", from, id, got[max(0, i-5):min(len(got), i+5)])
				}
			}
			if !lost {
				require.Len(p.t, got, each, "%s to %s", from, id)
			}
		}
	}
}

// sizes are those of pages: in one part, in several, and in many.
var sizes = []int{1, 30_000, 300_000, 1_000_000}

func TestMessagesOfEachSenderStayInOrderWhateverTheirSizeAndHoweverTheShardMoves(t *testing.T) {
	effort.Unraced(t)
	const each = 150
	for name, move := range map[string]func(p *post){
		"pin": func(p *post) {
			for i := range 6 {
				p.pin([]string{"n2", "n3", "n1"}[i%3])
				time.Sleep(30 * time.Millisecond)
			}
		},
		"stop": func(p *post) {
			for range 6 {
				ctx, cancel := contextFor(p.t, time.Minute)
				require.NoError(p.t, p.regions["n2"].Stop(ctx, 0))
				cancel()
				time.Sleep(30 * time.Millisecond)
			}
		},
		"leave": func(p *post) {
			for _, name := range []string{"n2", "n3"} {
				p.pin(name)
				time.Sleep(30 * time.Millisecond)
				p.Leave(name)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inPost(t, func(t *testing.T, p *post) {
				if name == "leave" { // the messages of nodes that leave are lost
					delete(p.refs, "n2")
					delete(p.refs, "n3")
				}
				p.tell(0, each, sizes, func() { move(p) })
				p.requireOrder(each, false)
			})
		})
	}
}

// An entity that takes too long is stopped, and leaves messages of several nodes to its node.
func TestWhatAStoppedEntityHasNotHandledIsNotOvertaken(t *testing.T) {
	const each = 40
	inPost(t, func(t *testing.T, p *post) {
		p.slow = 20 * time.Millisecond
		p.tell(0, each, sizes[:1], func() {
			for i := range 4 {
				p.pin([]string{"n2", "n3", "n1"}[i%3])
				time.Sleep(30 * time.Millisecond)
			}
		})
		p.requireOrder(each, false)
	}, sharding.StopTimeout(30*time.Millisecond))
}

// What several homes after each other have not handled goes with the shard.
func TestWhatIsLeftAgainAndAgainIsNotOvertaken(t *testing.T) {
	const each = 60
	inPost(t, func(t *testing.T, p *post) {
		p.slow = 40 * time.Millisecond
		p.tell(0, each, sizes[:1], func() {
			for i := range 12 {
				p.pin([]string{"n2", "n1", "n2", "n3"}[i%4])
				time.Sleep(time.Duration(i%3) * 5 * time.Millisecond)
			}
		})
		p.requireOrder(each, false)
	}, sharding.StopTimeout(10*time.Millisecond))
}

// A crashed home takes its messages with it. No other comes late.
func TestMessagesOfEachSenderStayInOrderWhenAHomeCrashes(t *testing.T) {
	const each = 150
	inPost(t, func(t *testing.T, p *post) {
		delete(p.refs, "n2")
		p.tell(0, each, sizes[:3], func() {
			p.pin("n2")
			time.Sleep(30 * time.Millisecond)
			p.Crash("n2")
		})
		p.tell(each, each, sizes, func() {})
		p.requireOrder(each, true)
		for key, got := range p.got {
			require.Equal(t, 2*each-1, slices.Max(got), key)
		}
	})
}
