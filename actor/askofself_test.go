package actor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// An oracle is asked "self" to ask itself in its handler, and "apart" to do it in a goroutine.
type oracle struct {
	Text    string
	ReplyTo actor.ActorRef[string]
}

func askOracle(ctx context.Context, to actor.ActorRef[oracle], text string) (string, error) {
	return actor.Ask(ctx, to, func(r actor.ActorRef[string]) oracle { return oracle{text, r} })
}

// An actor that asks itself would wait for ever: nobody else can handle the request.
func TestAnActorThatAsksItselfIsToldAtOnce(t *testing.T) {
	for name, of := range map[string]func(ctx *actor.Context[oracle]) (context.Context, context.CancelFunc){
		"with its Context": func(ctx *actor.Context[oracle]) (context.Context, context.CancelFunc) { return ctx, func() {} },
		"with a derived one": func(ctx *actor.Context[oracle]) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		},
		"with one that waits": func(ctx *actor.Context[oracle]) (context.Context, context.CancelFunc) { return context.WithCancel(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := testkit.NewSystem(t)
				handled := 0
				to := actor.Spawn(s, behaviors.Receive(func(ctx *actor.Context[oracle], m oracle) actor.Behavior[oracle] {
					handled++
					inner, cancel := of(ctx)
					ask := func() {
						defer cancel()
						if text, err := askOracle(inner, ctx.Self(), "plain"); err != nil {
							m.ReplyTo.Tell(err.Error())
						} else {
							m.ReplyTo.Tell(text)
						}
					}
					switch m.Text {
					case "self":
						ask()
					case "apart":
						go ask()
					default:
						m.ReplyTo.Tell("done")
					}
					return behaviors.Same
				}), "oracle")
				begun := time.Now()
				text, err := askOracle(t.Context(), to, "self")
				require.NoError(t, err)
				require.Contains(t, text, actor.ErrAskOfSelf.Error())
				require.Zero(t, time.Since(begun))
				text, err = askOracle(t.Context(), to, "apart")
				require.NoError(t, err)
				require.Equal(t, "done", text)
				require.Equal(t, 3, handled, "the request that was withdrawn is not handled")
			})
		})
	}
}

func init() { actor.RegisterType[oracle]("askofself-test.oracle") }

// An ask without a reply says what its actor does with the request.
func TestAnAskWithoutAReplySaysWhatBecameOfItsRequest(t *testing.T) {
	for handler, text := range map[time.Duration]string{
		15 * time.Second: "no reply after 10s, and the request is still being handled: context deadline exceeded",
		time.Second:      "no reply after 10s, and the handler of its request has returned: context deadline exceeded",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := testkit.NewSystem(t)
			to := actor.Spawn(s, behaviors.Receive(func(*actor.Context[oracle], oracle) actor.Behavior[oracle] {
				time.Sleep(handler)
				return behaviors.Same
			}), "silent")
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, err := askOracle(ctx, to, "plain")
			require.ErrorContains(t, err, text)
		})
	}
}
