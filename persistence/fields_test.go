package persistence_test

import (
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/codec/json"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

type halfExported struct {
	Name   string
	amount int
}

// A careless codec lets its users lose fields.
type careless struct{ json.Codec }

func (careless) Name() string                 { return "careless" }
func (careless) CheckType(reflect.Type) error { return nil }

func init() {
	actor.RegisterType[halfExported]("fields-test.half-exported", actor.WithCodec(careless{}))
}

// Fields of such an event or state would be lost at a restart. Registration refuses them for CBOR
// and JSON; for a codec that does not, a test detects this.
func TestUnexportedFieldsOfWhatIsStoredAreFoundInTests(t *testing.T) {
	for name, behavior := range map[string]func(j *journal.Memory, to actor.ActorRef[string]) actor.Behavior[int]{
		"event": func(j *journal.Memory, to actor.ActorRef[string]) actor.Behavior[int] {
			return behaviors.EventSourced("x", j, 0, func(sum int, e halfExported) int { return sum + e.amount },
				func(_ *actor.Context[int], _ int, n int) persistence.Effect[halfExported] {
					return persistence.ThenReply(persistence.Persist(halfExported{"a", n}), to, "stored")
				})
		},
		"state": func(j *journal.Memory, to actor.ActorRef[string]) actor.Behavior[int] {
			return behaviors.DurableState("x", j, halfExported{}, func(_ *actor.Context[int], _ persistence.State[halfExported], n int) persistence.StateEffect[halfExported] {
				return persistence.ThenReply(persistence.PersistState(halfExported{"a", n}), to, "stored")
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := testkit.NewSystem(t)
				p := testkit.NewProbe[string](t, s)
				var failure error
				ref := actor.Spawn(s, behaviors.Supervise(behavior(journal.NewMemory(), p.Ref()), actor.Strategy{
					Decide: func(err error) actor.Directive { failure = err; return actor.Resume },
				}), "")
				ref.Tell(5)
				ref.Tell(0)
				p.Expect("stored")
				var rejected *persistence.RejectedError
				require.ErrorAs(t, failure, &rejected)
				require.ErrorContains(t, failure, "the field amount")
			})
		})
	}
}
