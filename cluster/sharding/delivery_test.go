//go:build !quick

package sharding_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	"github.com/understudy-go/understudy/actor/telemetry"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// An entry is the event of a ledger: a delivered text.
type entry struct {
	Text, Numbering string
	Number          uint64
}

func init() {
	actor.RegisterType[entry]("sharding-test.entry")
	delivery.RegisterType[note]("sharding-test.delivered")
}

type deliveredNote = delivery.Delivery[note]

// ledger stores each delivered text once.
func ledger(e sharding.Entity, store journal.Journal) actor.Behavior[deliveredNote] {
	return behaviors.EventSourced(e.PersistenceID(), store, []entry(nil),
		func(all []entry, e entry) []entry { return append(slices.Clip(all), e) },
		func(_ *actor.Context[deliveredNote], all []entry, d deliveredNote) persistence.Effect[entry] {
			if d.Message.Text == "" {
				d.Message.ReplyTo.Tell(texts(all))
				return persistence.None
			}
			for _, e := range all {
				if e.Numbering == d.Numbering && e.Number >= d.Number {
					d.Confirm()
					return persistence.None
				}
			}
			return persistence.Persist(entry{d.Message.Text, d.Numbering, d.Number}).Then(d.Confirm)
		})
}

func texts(all []entry) string {
	var b strings.Builder
	for _, e := range all {
		b.WriteString(e.Text + " ")
	}
	return strings.TrimSpace(b.String())
}

type (
	ledgers     = *sharding.Region[delivery.Link[note]]
	noteCommand = delivery.Command[note]
)

// A bank is a cluster whose nodes host ledgers.
type bank struct {
	*clustertest.Cluster
	t       *testing.T
	store   *journal.Memory
	mu      sync.Mutex // guards regions
	regions map[string]ledgers
}

func inBank(t *testing.T, nodes int, f func(t *testing.T, b *bank), opts ...sharding.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bank{t: t, store: journal.NewMemory(), regions: map[string]ledgers{}}
		b.Cluster = clustertest.Start(t, nodes)
		for _, n := range b.Nodes() {
			b.start(n, opts...)
		}
		f(t, b)
	})
}

func (b *bank) start(n *cluster.Node, opts ...sharding.Option) {
	b.t.Helper()
	r, err := sharding.Start(n, "ledger", func(e sharding.Entity) actor.Behavior[delivery.Link[note]] {
		return delivery.Consumer(ledger(e, b.store))
	}, append([]sharding.Option{sharding.Shards(16)}, opts...)...)
	require.NoError(b.t, err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.regions[n.View().Self.Name] = r
}

func (b *bank) producer(node string, opts ...delivery.Option) actor.ActorRef[noteCommand] {
	b.mu.Lock()
	defer b.mu.Unlock()
	return actor.Spawn(b.Node(node), delivery.ProducerByID(b.regions[node].Lookup, opts...), "deliveries")
}

func (b *bank) read(from, id string) string {
	b.t.Helper()
	ctx, cancel := contextFor(b.t, time.Minute)
	defer cancel()
	got, err := actor.Ask(ctx, b.regions[from].Ref(id), directly)
	require.NoError(b.t, err)
	return got
}

func directly(r actor.ActorRef[string]) delivery.Link[note] {
	return delivery.Direct[note]{Message: note{ReplyTo: r}}
}

// has requires that each ledger has the texts of each sender once, in order.
func (b *bank) has(from string, ids, each int, senders ...string) {
	b.t.Helper()
	for n := range ids {
		next := map[string]int{}
		for text := range strings.FieldsSeq(b.read(from, fmt.Sprint("e", n))) {
			sender, count, _ := strings.Cut(text, ":")
			require.Equal(b.t, fmt.Sprint(next[sender]), count, "e%d from %s", n, sender)
			next[sender]++
		}
		for _, s := range senders {
			require.Equal(b.t, each, next[s], "e%d from %s", n, s)
		}
	}
}

// send sends a text to each of some ledgers.
func send(to actor.ActorRef[noteCommand], ids int, text string) {
	for n := range ids {
		to.Tell(delivery.Send[note]{To: fmt.Sprint("e", n), Message: note{Text: text}})
	}
}

func TestDeliveriesReachEntitiesOnceAndInOrderWhateverHappensToTheNodes(t *testing.T) {
	const ids, each = 20, 120
	inBank(t, 4, func(t *testing.T, b *bank) {
		n1, n2 := b.producer("n1"), b.producer("n2")
		for count := range each {
			send(n1, ids, fmt.Sprint("n1:", count))
			send(n2, ids, fmt.Sprint("n2:", count))
			time.Sleep(250 * time.Millisecond)
			switch count {
			case 10:
				b.Sever("n1", "n3")
			case 30:
				b.Heal()
			case 40:
				b.Leave("n3")
			case 60:
				b.Kill("n4")
			case 90:
				b.start(b.Add("n5"))
			}
		}
		time.Sleep(2 * time.Minute)
		b.has("n1", ids, each, "n1", "n2")
	}, sharding.PassivateAfter(5*time.Second))
}

func TestANodeThatLeavesHoldsDeliveriesUpForNoMoreThanAMoment(t *testing.T) {
	const ids, each = 20, 50
	inBank(t, 3, func(t *testing.T, b *bank) {
		n1 := b.producer("n1")
		send(n1, ids, "n1:0")
		time.Sleep(20 * time.Second)
		for count := 1; count < each; count++ {
			send(n1, ids, fmt.Sprint("n1:", count))
		}
		b.Leave("n3")
		time.Sleep(2 * time.Second)
		b.has("n1", ids, each, "n1")
	})
}

func TestDeliveriesWakeEntitiesThatHavePassivated(t *testing.T) {
	const each = 20
	inBank(t, 2, func(t *testing.T, b *bank) {
		n1 := b.producer("n1")
		for count := range each {
			send(n1, 4, fmt.Sprint("n1:", count))
			time.Sleep(time.Duration(count%5) * 700 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		for _, r := range b.regions {
			require.Zero(t, r.Stats().Awake)
		}
		b.has("n2", 4, each, "n1")
	}, sharding.PassivateAfter(time.Second))
}

func TestWithAQueueTheNextProducerGoesOnWithWhatIsNotConfirmed(t *testing.T) {
	const ids, each = 10, 40
	inBank(t, 3, func(t *testing.T, b *bank) {
		queue := func() delivery.Option { return delivery.WithQueue(delivery.NewQueue("deliveries", b.store)) }
		first := b.producer("n2", queue())
		for count := range each / 2 {
			send(first, ids, fmt.Sprint("s:", count))
		}
		accepted, err := actor.Ask(t.Context(), first, func(r actor.ActorRef[delivery.Accepted]) noteCommand {
			return delivery.Send[note]{To: "other", Message: note{Text: "last"}, ReplyTo: r}
		})
		require.NoError(t, err)
		require.EqualValues(t, ids*each/2+1, accepted.Number)
		b.Kill("n2") // some are not confirmed
		second := b.producer("n3", queue())
		for count := each / 2; count < each; count++ {
			send(second, ids, fmt.Sprint("s:", count))
		}
		time.Sleep(2 * time.Minute)
		b.has("n1", ids, each, "s")
		require.Equal(t, "last", b.read("n1", "other"))
	})
}

// withConsumers runs f with ledgers in one system.
func withConsumers(t *testing.T, worker func(sharding.Entity) actor.Behavior[deliveredNote], f func(t *testing.T, s *actor.System, r ledgers)) {
	t.Helper()
	inBubble(t, func(t *testing.T, s *actor.System) {
		r, err := sharding.Start(s, "ledger", func(e sharding.Entity) actor.Behavior[delivery.Link[note]] {
			return delivery.Consumer(worker(e))
		})
		require.NoError(t, err)
		f(t, s, r)
	})
}

func TestAnEntityThatFailsAtADeliveryGetsItAgainAfterItsBackoff(t *testing.T) {
	failures, began := 0, []time.Time(nil)
	store := journal.NewMemory()
	withConsumers(t, func(e sharding.Entity) actor.Behavior[deliveredNote] {
		began = append(began, time.Now())
		return behaviors.Intercept(&behaviors.Interceptor[deliveredNote]{
			Message: func(ctx *actor.Context[deliveredNote], d deliveredNote, inner actor.MessageHandler[deliveredNote]) actor.Behavior[deliveredNote] {
				if d.Message.Text == "s:3" && failures < 4 {
					failures++
					return ctx.Fail(errors.New("not yet"))
				}
				return inner(ctx, d)
			},
		}, ledger(e, store))
	}, func(t *testing.T, s *actor.System, r ledgers) {
		p := actor.Spawn(s, delivery.ProducerByID(r.Lookup), "deliveries")
		for count := range 10 {
			send(p, 1, fmt.Sprint("s:", count))
		}
		time.Sleep(time.Minute)
		got, err := actor.Ask(t.Context(), r.Ref("e0"), directly)
		require.NoError(t, err)
		require.Equal(t, "s:0 s:1 s:2 s:3 s:4 s:5 s:6 s:7 s:8 s:9", got)
		require.Len(t, began, 5)
		require.GreaterOrEqual(t, began[2].Sub(began[1]), 2*time.Second)
	})
}

func TestADeliveryThatIsNotConfirmedKeepsAnEntityAwake(t *testing.T) {
	p := make(chan deliveredNote, 10)
	withConsumers(t, func(sharding.Entity) actor.Behavior[deliveredNote] {
		return behaviors.Receive(func(_ *actor.Context[deliveredNote], d deliveredNote) actor.Behavior[deliveredNote] {
			p <- d
			return nil
		})
	}, func(t *testing.T, s *actor.System, r ledgers) {
		deliveries := actor.Spawn(s, delivery.ProducerByID(r.Lookup), "deliveries")
		send(deliveries, 1, "long work")
		time.Sleep(time.Hour)
		require.Equal(t, 1, r.Stats().Awake)
		require.Len(t, p, 1, "it is handed over once")
		(<-p).Confirm()
		time.Sleep(5 * time.Minute)
		require.Zero(t, r.Stats().Awake)
	})
}

func TestAProducerForgetsTheEntitiesThatWereSentToOnce(t *testing.T) {
	all := effort.Of(5_000, 5_000, 50_000)
	left := all
	withConsumers(t, func(sharding.Entity) actor.Behavior[deliveredNote] {
		return behaviors.Receive(func(_ *actor.Context[deliveredNote], d deliveredNote) actor.Behavior[deliveredNote] {
			d.Confirm()
			return nil
		})
	}, func(t *testing.T, s *actor.System, r ledgers) {
		confirmed := testkit.NewProbe[delivery.Confirmed](t, s)
		p := actor.Spawn(s, delivery.ProducerByID(r.Lookup), "deliveries")
		for n := range all {
			p.Tell(delivery.Send[note]{To: fmt.Sprint(n), Message: note{Text: "once"}, ConfirmTo: confirmed.Ref()})
		}
		for ; left > 0; left-- {
			require.NoError(t, confirmed.Receive().Reason)
		}
		require.Equal(t, all, gauge(s, "understudy_delivery_receivers"))
		time.Sleep(4 * time.Minute)
		require.Zero(t, gauge(s, "understudy_delivery_receivers"))
		require.Zero(t, gauge(s, "understudy_delivery_unconfirmed"))
		require.Zero(t, r.Stats().Awake)
		send(p, 1, "again")
		time.Sleep(time.Second)
		require.Zero(t, gauge(s, "understudy_delivery_unconfirmed"))
	})
}

// gauge returns the sum of a metric of a system.
func gauge(s *actor.System, name string) (sum int) {
	for _, f := range telemetry.Gather(s) {
		if f.Name == name {
			for _, series := range f.Series {
				sum += int(series.Value)
			}
		}
	}
	return sum
}

func TestADeliveryToAnIDThatNobodyCanHaveIsRefused(t *testing.T) {
	withConsumers(t, func(sharding.Entity) actor.Behavior[deliveredNote] {
		return behaviors.Ignore[deliveredNote]
	}, func(t *testing.T, s *actor.System, r ledgers) {
		p := actor.Spawn(s, delivery.ProducerByID(r.Lookup), "deliveries")
		outcome, err := actor.Ask(t.Context(), p, func(r actor.ActorRef[delivery.Confirmed]) noteCommand {
			return delivery.Send[note]{To: "a\nb", ConfirmTo: r}
		})
		require.NoError(t, err)
		require.ErrorIs(t, outcome.Reason, delivery.ErrNoReceiver)
	})
}

func TestAnEntityThatHoldsItsDeliveriesUpDoesNotHoldUpOthers(t *testing.T) {
	got := make(chan string, 100)
	withConsumers(t, func(e sharding.Entity) actor.Behavior[deliveredNote] {
		return behaviors.Receive(func(_ *actor.Context[deliveredNote], d deliveredNote) actor.Behavior[deliveredNote] {
			if e.ID != "e0" {
				got <- d.Message.Text
				d.Confirm()
			}
			return nil
		})
	}, func(t *testing.T, s *actor.System, r ledgers) {
		p := actor.Spawn(s, delivery.ProducerByID(r.Lookup, delivery.Buffer(5)), "deliveries")
		dead := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, dead.Ref())
		for range 60 { // 50 are in the window
			send(p, 1, "stuck")
			time.Sleep(time.Second)
		}
		for range 5 {
			require.ErrorIs(t, dead.Receive().Reason, delivery.ErrBufferFull)
		}
		dead.ExpectNone(time.Minute)
		send(p, 2, "free")
		require.Equal(t, "free", <-got)
	})
}
