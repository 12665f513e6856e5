package actor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// blocked spawns an actor that is at its first message, 0, until release is closed, and
// then tells p all that it gets.
func blocked(s *actor.System, p *testkit.Probe[int], m actor.Mailbox) (ref actor.ActorRef[int], release chan struct{}) {
	release = make(chan struct{})
	ref = actor.Spawn(s, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
		<-release
		p.Ref().Tell(n)
		return behaviors.Same
	}), "blocked", m)
	ref.Tell(0)
	settle()
	return ref, release
}

func TestAFullMailboxDropsAndReports(t *testing.T) {
	for _, test := range []struct {
		name      string
		mailbox   actor.Mailbox
		told      int
		delivered []int
		dropped   []int
	}{
		{"unbounded", actor.Mailbox{}, 6, []int{1, 2, 3, 4, 5, 6}, nil},
		{"4, drop newest", actor.Bounded(4), 6, []int{1, 2, 3, 4}, []int{5, 6}},
		{"2, drop oldest", actor.Bounded(2).DropOldest(), 3, []int{2, 3}, []int{1}},
		{"2, drop oldest, overrun", actor.Bounded(2).DropOldest(), 7, []int{6, 7}, []int{1, 2, 3, 4, 5}},
		{"1, drop newest", actor.Bounded(1), 3, []int{1}, []int{2, 3}},
		{"as many as fit", actor.Bounded(3).DropOldest(), 3, []int{1, 2, 3}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[int](t, s)
				dead := deadLetters(t, s)
				ref, release := blocked(s, p, test.mailbox)
				for n := range test.told {
					ref.Tell(n + 1)
				}
				for _, n := range test.dropped {
					dead.Expect(actor.DeadLetter{Recipient: ref.String(), Message: n, Reason: actor.ErrMailboxFull})
				}
				close(release)
				p.Expect(0)
				for _, n := range test.delivered {
					p.Expect(n)
				}
				p.ExpectNone(time.Hour)
				dead.ExpectNone(time.Hour)
			})
		})
	}
}

func TestABoundedMailboxHasRoomAgainWhenMessagesHaveBeenHandled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		ref, release := blocked(s, p, actor.Bounded(2))
		close(release)
		settle()
		for round := range 1000 {
			ref.Tell(2*round + 1)
			ref.Tell(2*round + 2)
			settle()
		}
		for n := range 2001 {
			p.Expect(n)
		}
		require.Zero(t, s.DeadLetters())
	})
}

func TestABoundMustBePositive(t *testing.T) {
	require.PanicsWithValue(t, "actor: mailbox bound 0 is not positive", func() { actor.Bounded(0).DropOldest() })
}

func TestAFloodIsHandledInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		const flood = 10_000
		p := testkit.NewProbe[int](t, s)
		ref, release := blocked(s, p, actor.Mailbox{})
		for n := 1; n < flood; n++ {
			ref.Tell(n)
		}
		close(release)
		for n := range flood {
			p.Expect(n)
		}
	})
}
