package home_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/singleton"
)

// shards is a workload of one label, which it keeps on the first node that is alive.
type shards struct {
	nodes *home.Nodes
	on    home.NodeID // where it was requested last; zero when it is nowhere
	term  uint64
	told  []string
}

const cart = "cart/17"

func (s *shards) Handle(home.Input) {}

func (s *shards) tell(what string, on home.NodeID) { s.told = append(s.told, what+" "+on.Name) }

func (s *shards) Told(o home.Outcome) {
	s.tell(strings.TrimSpace([]string{"started", "failed", "stopped", "refused", "ended"}[o.What]+" "+o.Why.Text), o.On)
	if o.What != home.Runs && o.What != home.Refused {
		s.on = home.NodeID{}
	}
}

func (s *shards) Lost(on home.NodeID) {
	s.tell("lost", on)
	if s.on == on {
		s.on = home.NodeID{}
	}
}

func (s *shards) Leaving(home.NodeID) bool { return false }
func (s *shards) Unwanted(string) bool     { return true }
func (s *shards) MoreRoom()                { s.nodes.Touch(cart) }
func (s *shards) Serve()                   {}

func (s *shards) Review(string) {
	alive := s.nodes.View().Alive()
	switch {
	case len(alive) == 0:
	case !s.on.IsZero() && s.nodes.Draining(s.on):
		s.nodes.Stop(s.on, cart, "drain")
	case s.on.IsZero() && len(s.nodes.PlacesOf(cart)) == 0:
		s.term++
		s.on = home.IDOf(alive[0])
		s.nodes.Start(s.on, home.StartRequest{Label: cart, Type: "cart", Generation: singleton.Generation{Term: s.term}})
	}
}

// A shardsRig has the nodes a and b, which answer each request at once, and are silent while
// silence is set.
type shardsRig struct {
	*shards
	now     time.Time
	runs    map[home.NodeID][]home.Reported
	silence bool
	replies []home.Token
}

func newShardsRig() *shardsRig {
	nodes := home.New(home.Config{Epoch: 2, AckTimeout: time.Second})
	r := &shardsRig{shards: &shards{nodes: nodes}, now: time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC), runs: map[home.NodeID][]home.Reported{}}
	nodes.Add(r.shards)
	return r
}

// step handles an input, and then the answers of the nodes.
func (r *shardsRig) step(in home.Input) {
	r.nodes.Step(in, r.now)
	for _, e := range r.nodes.Take() {
		switch e := e.(type) {
		case home.Reply:
			r.replies = append(r.replies, e.Token)
		case home.Send:
			if !r.silence {
				r.answer(home.NodeID{Name: e.Node, Incarnation: e.Incarnation}, e.Msg)
			}
		}
	}
}

func (r *shardsRig) answer(on home.NodeID, msg any) {
	out := home.FromAgent{Node: on.Name, Incarnation: on.Incarnation}
	switch m := msg.(type) {
	case home.ReportRequest:
		out.Report = &home.Report{Epoch: m.Epoch, Running: r.runs[on]}
	case home.StartRequest:
		out.StartAck = &home.StartAck{ID: m.ID, Label: m.Label}
	case home.StopRequest:
		out.StopAck = &home.StopAck{ID: m.ID, Label: m.Label}
	}
	r.step(home.Received{Message: out})
}

// look gives the nodes a view with the members of those names, and those that are gone.
func (r *shardsRig) look(names string, gone ...home.Gone) {
	var members []home.Node
	for _, name := range names {
		members = append(members, home.Node{Name: string(name), Incarnation: 1, Up: true, Reachable: true})
	}
	r.step(home.ViewChanged{Nodes: members, Gone: gone})
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
	r.step(home.Tick{})
	r.hears(t, "started a")
	on, ok := r.nodes.NodeOf(cart)
	require.True(t, ok)
	require.Equal(t, "a", on.Name)
	p, ok := r.nodes.Place(on, cart)
	require.True(t, ok)
	require.Equal(t, home.Running, p.Phase)
	require.Equal(t, home.RequestID{Epoch: 2, N: 1}, p.Request.ID)
	require.Empty(t, r.nodes.Awaited(cart))
}

func TestADrainEndsWhenTheWorkloadHasMovedItsActor(t *testing.T) {
	r := newShardsRig()
	r.look("ab")
	r.hears(t, "started a")
	r.step(home.Drain{Node: r.on, Token: 7})
	r.hears(t, "stopped a", "started b")
	require.Equal(t, []home.Token{7}, r.replies)
}

func TestAnActorOfALostNodeIsLostWhenItsTimeIsOver(t *testing.T) {
	r := newShardsRig()
	r.look("ab")
	r.hears(t, "started a")
	until := r.now.Add(time.Minute)
	r.look("b", home.Gone{Name: "a", Incarnation: 1, Until: until})
	require.Empty(t, r.told)
	require.Len(t, r.nodes.PlacesOf(cart), 1)
	r.now = until
	r.step(home.Tick{})
	r.hears(t, "lost a", "started b")
}

func TestAnOrphanIsStoppedBeforeTheWorkloadStartsItsActor(t *testing.T) {
	r := newShardsRig()
	former := home.Reported{ID: home.RequestID{Epoch: 1, N: 9}, Label: cart, Generation: singleton.Generation{Term: 5}, Started: true}
	r.runs[home.NodeID{Name: "b", Incarnation: 1}] = []home.Reported{former}
	r.look("ab")
	r.hears(t, "stopped b", "started a")
}
