package actor_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestAResolvedRefIsThatOfTheActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		parent, child := parentOf(t, s, obedient())
		require.True(t, same(parent, actor.Resolve[order](s, parent.Path())))
		require.True(t, same(parent, actor.Resolve[order](s, parent.String())))
		require.True(t, same(child, actor.Resolve[order](s, parent.Path()+"/child")))
	})
}

func TestAnActorThatIsSpawnedAfterItWasResolvedGetsWhatIsToldThen(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		p := testkit.NewProbe[string](t, s)
		early := actor.Resolve[order](s, "understudy://test/user/late")
		early.Tell(nil)
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrNoSuchActor)
		late := actor.Spawn(s, obedient(), "late")
		early.Tell(say(p, "in time"))
		p.Expect("in time")
		require.Equal(t, late.Path(), early.Path())
		require.False(t, same(early, late))
		actor.Spawn(s, watching(p, early), "")
		settle()
		early.Tell(stop)
		p.Expect("watcher Terminated")
	})
}

func TestAPathWithANumberMeansThatActorOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		early := actor.Resolve[order](s, "understudy://test/user/late#17")
		actor.Spawn(s, obedient(), "late")
		early.Tell(nil)
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrStaleRef)
	})
}

func TestAMalformedPathIsNobodysAndLogged(t *testing.T) {
	for path, complaint := range map[string]string{
		"":                              `actor: path "" does not begin with understudy://`,
		"/user/x":                       `actor: path "/user/x" does not begin with understudy://`,
		"http://test/user/x":            `actor: path "http://test/user/x" does not begin with understudy://`,
		"understudy://test":             `actor: path "understudy://test" names no actor`,
		"understudy://test/user/x#many": `actor: path "understudy://test/user/x#many" has a malformed number`,
		"understudy://test/user/x#-1":   `actor: path "understudy://test/user/x#-1" has a malformed number`,
		"understudy:///user/x":          `actor: path "understudy:///user/x" is no actor's: its system name "" is empty; it must be 1 to 255 letters, digits and -_.:~+`,
		"understudy://t t/user/x":       `actor: path "understudy://t t/user/x" is no actor's: its system name "t t" contains ' '; it must be 1 to 255 letters, digits and -_.:~+`,
		"understudy://test@t here/x":    `actor: path "understudy://test@t here/x" is no actor's: its address "t here" contains ' '`,
		"understudy://test@a:1/user//x": `actor: path "understudy://test@a:1/user//x" is no actor's: what follows its system has two slashes in a row`,
		"understudy://test@a:1/user/é":  `actor: path "understudy://test@a:1/user/é" is no actor's: what follows its system contains 'é'; letters, digits and -_.:~+@ are allowed`,
	} {
		t.Run(path, func(t *testing.T) {
			logs, entries := observer.New(zap.WarnLevel)
			inBubbleWith(t, func(t *testing.T, s *actor.System) {
				actor.Spawn(s, behaviors.Ignore[int], "x")
				dead := deadLetters(t, s)
				ref := actor.Resolve[int](s, path)
				require.Equal(t, complaint, entries.All()[0].ContextMap()["error"])
				ref.Tell(1)
				dead.Expect(actor.DeadLetter{Recipient: path, Message: 1, Reason: actor.ErrNoRef})
				require.Equal(t, path, ref.Path())
			}, actor.WithLogger(zap.New(logs)))
		})
	}
}

// A ref to a name with a bad byte was sent, and cost other messages their session.
func init() { actor.RegisterType[[]actor.ActorRef[int]]("actor_test.refs of int") }

func TestAPathThatIsNotUTF8IsNobodysAndItsRefCanBeEncoded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		ref := actor.Resolve[int](s, "understudy://test@there:1/user/\xff")
		ref.Tell(1)
		dead.Expect(actor.DeadLetter{Recipient: "understudy://test@there:1/user/\uFFFD", Message: 1, Reason: actor.ErrNoRef})
		p, err := extension.Pack([]actor.ActorRef[int]{ref})
		require.NoError(t, err)
		_, err = extension.Unpack(s, p)
		require.NoError(t, err)
	})
}

func TestRefsOfOneRemoteActorAreEqualAsLongAsAnybodyHoldsOne(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	const path = "understudy://test@elsewhere:1/user/x"
	held := actor.Resolve[int](s, path)
	for range 3 {
		for range 1000 {
			require.True(t, same(held, actor.Resolve[int](s, path)))
			actor.Resolve[int](s, path+"#17")
		}
		runtime.GC()
	}
}
