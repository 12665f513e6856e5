package shell

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/testkit"
)

// A lampStarter starts lamps, which do nothing.
type lampStarter struct {
	lamps map[string]lamp
	left  []string
}

type lamp struct {
	actor.ActorRef[string]
	on Hooks
}

func (s *lampStarter) Start(under *actor.Context[any], r home.StartRequest, on Hooks) (Running, error) {
	if r.Type != "lamp" {
		return Running{}, errors.New("only lamps")
	}
	ref := actor.Spawn(under, func(_ *actor.Context[string], next *actor.Next[string]) {
		next.OnMessage = func(*actor.Context[string], string) actor.Behavior[string] { return nil }
		on.Started()
	}, r.Label)
	s.lamps[r.Label] = lamp{ref, on}
	return Running{Ref: ref, Leave: func() { s.left = append(s.left, r.Label) }}, nil
}

func TestAnAgentStartsAndStopsTheActorsOfItsStarter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		heard := testkit.NewProbe[home.FromAgent](t, s)
		lamps := &lampStarter{lamps: map[string]lamp{}}
		SpawnAgent(s, "n1", Config{Name: "lamps", Starter: lamps, Noun: "lamp", Quit: "lamp has gone out"},
			func(_ *actor.Context[any], follow func(uint64)) { follow(5) })
		view := home.NewView([]home.Node{{Name: "n1", Incarnation: 5, Address: s.Address()}})
		tell := func(incarnation uint64, msg any) {
			Tell(s, "lamps", view, home.Send{Node: "n1", Incarnation: incarnation, Msg: msg}, heard.Ref())
		}
		id := func(n uint64) home.RequestID { return home.RequestID{Epoch: 1, N: n} }

		tell(5, home.StartRequest{ID: id(1), Label: "hall", Type: "lamp", Epoch: 1})
		require.Equal(t, &home.StartAck{ID: id(1), Label: "hall"}, heard.Receive().StartAck)
		require.Equal(t, "understudy://test/system/lamps/hall", lamps.lamps["hall"].Path())

		tell(5, home.StartRequest{ID: id(2), Label: "tap", Type: "tap", Epoch: 1})
		require.Equal(t, &home.StartAck{ID: id(2), Label: "tap", Error: "only lamps"}, heard.Receive().StartAck)

		tell(5, home.StopRequest{ID: id(1), Label: "hall", Epoch: 1})
		require.Equal(t, &home.StopAck{ID: id(1), Label: "hall"}, heard.Receive().StopAck)
		require.Equal(t, []string{"hall"}, lamps.left)

		tell(5, home.StartRequest{ID: id(3), Label: "desk", Type: "lamp", Epoch: 1})
		require.Equal(t, &home.StartAck{ID: id(3), Label: "desk"}, heard.Receive().StartAck)
		lamps.lamps["desk"].on.Broken(errors.New("no power"))
		require.Equal(t, &home.Ended{ID: id(3), Label: "desk", Error: "no power"}, heard.Receive().Ended)
		tell(5, home.StopRequest{ID: id(3), Label: "desk", Epoch: 1})
		require.Equal(t, &home.StopAck{ID: id(3), Label: "desk"}, heard.Receive().StopAck)

		tell(4, home.StartRequest{ID: id(4), Label: "late", Type: "lamp", Epoch: 1}) // that node is gone
		heard.ExpectNone(time.Hour)
	})
}
