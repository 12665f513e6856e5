package hosting_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/internal/generation"
)

// shards is a workload of one label, which it keeps on the first node that is alive.
type shards struct {
	nodes *hosting.Nodes
	on    hosting.NodeID // where it was requested last; zero when it is nowhere
	term  uint64
	told  []string
}

const cart = "cart/17"

func (s *shards) Owns(label string) bool { return label == cart }

func (s *shards) tell(what string, on hosting.NodeID) { s.told = append(s.told, what+" "+on.Name) }

func (s *shards) Started(_ string, _ hosting.RequestID, on hosting.NodeID) { s.tell("started", on) }

func (s *shards) Failed(_ string, _ hosting.RequestID, on hosting.NodeID, why hosting.Ending) {
	s.tell("failed "+why.Text, on)
	s.on = hosting.NodeID{}
}

func (s *shards) Stopped(_ string, _ hosting.RequestID, on hosting.NodeID) {
	s.tell("stopped", on)
	s.on = hosting.NodeID{}
}

func (s *shards) Refused(_ string, _ hosting.RequestID, on hosting.NodeID, why string) {
	s.tell("refused "+why, on)
}

func (s *shards) Ended(_ string, _ hosting.RequestID, on hosting.NodeID, why hosting.Ending) {
	s.tell("ended "+why.Text, on)
	s.on = hosting.NodeID{}
}

func (s *shards) Found(_ string, on hosting.NodeID, actor hosting.Reported) {
	s.tell(fmt.Sprintf("found %v", actor.Generation), on)
}

func (s *shards) Lost(on hosting.NodeID) {
	s.tell("lost", on)
	if s.on == on {
		s.on = hosting.NodeID{}
	}
}

func (s *shards) Leaving(hosting.NodeID) bool     { return false }
func (s *shards) Notice(map[string]bool, bool)    {}
func (s *shards) Next() (at time.Time, some bool) { return at, false }

func (s *shards) Reconcile() {
	alive := s.nodes.View().Alive()
	switch {
	case !s.nodes.Settled() || len(alive) == 0:
	case !s.on.IsZero() && s.nodes.Draining(s.on):
		s.nodes.Stop(s.on, cart, "drain")
	case s.on.IsZero() && len(s.nodes.PlacesOf(cart)) == 0:
		s.term++
		s.on = hosting.IDOf(alive[0])
		s.nodes.Start(s.on, hosting.StartRequest{Label: cart, Type: "cart", Generation: generation.Generation{Term: s.term}})
	}
}

// A shardsRig has the nodes a and b, which answer each request at once, and are silent while
// silence is set.
type shardsRig struct {
	*shards
	now     time.Time
	runs    map[hosting.NodeID][]hosting.Reported
	silence bool
	replies []hosting.Token
}

func newShardsRig() *shardsRig {
	nodes := hosting.New(hosting.Config{Epoch: 2, AckTimeout: time.Second})
	r := &shardsRig{shards: &shards{nodes: nodes}, now: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC), runs: map[hosting.NodeID][]hosting.Reported{}}
	nodes.Add(r.shards)
	return r
}

// step handles an input, and then the answers of the nodes.
func (r *shardsRig) step(in func()) {
	r.nodes.Advance(r.now)
	in()
	r.nodes.Tick()
	r.nodes.Reconcile(func(string) bool { return true })
	r.nodes.EndDrains()
	for _, e := range r.nodes.Take() {
		switch e := e.(type) {
		case hosting.Reply:
			r.replies = append(r.replies, e.Token)
		case hosting.Send:
			if !r.silence {
				r.answer(hosting.NodeID{Name: e.Node, Incarnation: e.Incarnation}, e.Msg)
			}
		}
	}
}

func (r *shardsRig) answer(on hosting.NodeID, msg any) {
	out := hosting.FromAgent{Node: on.Name, Incarnation: on.Incarnation}
	switch m := msg.(type) {
	case hosting.ReportRequest:
		out.Report = &hosting.Report{Epoch: m.Epoch, Running: r.runs[on]}
	case hosting.StartRequest:
		out.StartAck = &hosting.StartAck{ID: m.ID, Label: m.Label}
	case hosting.StopRequest:
		out.StopAck = &hosting.StopAck{ID: m.ID, Label: m.Label}
	}
	r.step(func() { r.nodes.Receive(out) })
}

// look gives the nodes a view with the members of those names, and those that are gone.
func (r *shardsRig) look(names string, gone ...hosting.Gone) {
	var members []hosting.Node
	for _, name := range names {
		members = append(members, hosting.Node{Name: string(name), Incarnation: 1, Up: true, Reachable: true})
	}
	r.step(func() { r.nodes.Update(members, gone) })
}

func (r *shardsRig) hears(t *testing.T, told ...string) {
	t.Helper()
	require.Equal(t, told, r.told)
	r.told = nil
}

func TestAWorkloadStartsItsActorWhenAllNodesHaveReported(t *testing.T) {
	r := newShardsRig()
	r.silence = true
	r.look("ab")
	require.Empty(t, r.nodes.PlacesOf(cart), "another coordinator may have started it")
	r.silence = false
	at, ok := r.nodes.Next()
	require.True(t, ok)
	require.Equal(t, r.now.Add(time.Second), at)
	r.now = at
	r.step(func() {})
	r.hears(t, "started a")
	on, ok := r.nodes.NodeOf(cart)
	require.True(t, ok)
	require.Equal(t, "a", on.Name)
	p, ok := r.nodes.Place(on, cart)
	require.True(t, ok)
	require.Equal(t, hosting.Running, p.Phase)
	require.Equal(t, hosting.RequestID{Epoch: 2, N: 1}, p.Request.ID)
	require.Empty(t, r.nodes.Awaited(cart))
}

func TestADrainEndsWhenTheWorkloadHasMovedItsActor(t *testing.T) {
	r := newShardsRig()
	r.look("ab")
	r.hears(t, "started a")
	r.step(func() { r.nodes.Drain(r.on, 7) })
	r.hears(t, "stopped a", "started b")
	require.Equal(t, []hosting.Token{7}, r.replies)
}

func TestAnActorOfALostNodeIsLostWhenItsTimeIsOver(t *testing.T) {
	r := newShardsRig()
	r.look("ab")
	r.hears(t, "started a")
	until := r.now.Add(time.Minute)
	r.look("b", hosting.Gone{Name: "a", Incarnation: 1, Until: until})
	require.Empty(t, r.told)
	require.Len(t, r.nodes.PlacesOf(cart), 1)
	r.now = until
	r.step(func() {})
	r.hears(t, "lost a", "started b")
}

func TestAnOrphanIsStoppedBeforeTheWorkloadStartsItsActor(t *testing.T) {
	r := newShardsRig()
	former := hosting.Reported{ID: hosting.RequestID{Epoch: 1, N: 9}, Label: cart, Generation: generation.Generation{Term: 5}, Started: true}
	r.runs[hosting.NodeID{Name: "b", Incarnation: 1}] = []hosting.Reported{former}
	r.look("ab")
	r.hears(t, "found 5.0 b", "stopped b", "started a")
}
