package actor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/testkit"
)

type visit struct {
	N       int
	ReplyTo actor.ActorRef[string]
}

func init() { actor.RegisterType[visit]("test.visit") }

// A hotel is a router that spawns an actor for each id, and another one when that has ended.
type hotel struct {
	guests extension.Returning
	rounds extension.Rounds

	mu       sync.Mutex // guards all below
	living   map[string]actor.ActorRef[visit]
	waiting  map[string][]visit
	spawned  int
	failures []error
	refusal  error // of those that have started
	begun    int
}

func newHotel(s *actor.System, last any, guest func(id string) actor.Behavior[visit]) (*hotel, func(id string) actor.ActorRef[visit]) {
	h := &hotel{living: map[string]actor.ActorRef[visit]{}, waiting: map[string][]visit{}}
	return h, openHotel(s, h, last, inHotel{h, guest})
}

func openHotel(s *actor.System, h *hotel, last any, by interface {
	extension.Router
	extension.Owner
},
) func(id string) actor.ActorRef[visit] {
	host := actor.Spawn(s, behaviors.Ignore[string], "host")
	h.guests = extension.NewReturning(host, by, last, &h.rounds)
	ref := extension.NewRoutedRefs[visit](s, "/hotel/", by)
	extension.AddTree(s, "hotel", func(path string) (actor.AnyRef, error) { return ref(path), nil })
	return ref
}

type inHotel struct {
	*hotel
	guest func(id string) actor.Behavior[visit]
}

func (h inHotel) Begun(string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begun++
	return h.refusal
}

func (h inHotel) Told(full string, msg any, m extension.Metadata) (here actor.AnyRef) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, id, _ := strings.Cut(full, "/hotel/")
	return h.offer(id, msg.(visit), m)
}

func (h inHotel) offer(id string, msg visit, m extension.Metadata) (here actor.AnyRef) {
	if h.living[id] == (actor.ActorRef[visit]{}) {
		h.spawned++
		h.living[id] = extension.SpawnReturning(h.guests, h.guest(id), id)
	}
	if !h.guests.Offer(h.living[id], msg, m) {
		h.waiting[id] = append(h.waiting[id], msg)
		return here
	}
	return h.living[id]
}

func (h inHotel) Arrived(path string, _ uint64, msg any, _ extension.Arrival) actor.AnyRef {
	return h.Told(path, msg, extension.Metadata{})
}

func (h inHotel) Ended(id string, rest []any, _ []extension.Metadata, failure error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.living, id)
	if failure != nil {
		h.failures = append(h.failures, failure)
	}
	waiting := h.waiting[id]
	delete(h.waiting, id)
	for _, msg := range rest {
		h.offer(id, msg.(visit), extension.Metadata{})
	}
	for _, msg := range waiting {
		h.offer(id, msg, extension.Metadata{})
	}
}

func (h inHotel) Late(id string, msg any, m extension.Metadata) { h.Told("/hotel/"+id, msg, m) }

// countsVisits replies with how many messages the actor of the id has had.
func countsVisits(id string) actor.Behavior[visit] {
	had := 0
	return behaviors.Receive(func(_ *actor.Context[visit], v visit) actor.Behavior[visit] {
		had++
		v.ReplyTo.Tell(fmt.Sprint(id, " ", had))
		return nil
	})
}

// guest returns the actor of the id "a".
func (h *hotel) guest() actor.ActorRef[visit] {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.living["a"]
}

func visitBy(r actor.ActorRef[string]) visit { return visit{ReplyTo: r} }

func askHow(t *testing.T, ref actor.ActorRef[visit]) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	reply, err := actor.Ask(ctx, ref, visitBy)
	require.NoError(t, err)
	return reply
}

func TestARoutedRefReachesWhicheverActorItsRouterFinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		h, ref := newHotel(s, nil, countsVisits)
		require.Equal(t, "a 1", askHow(t, ref("a")))
		require.Equal(t, "b 1", askHow(t, ref("b")))
		require.Equal(t, "a 2", askHow(t, ref("a")))
		require.Equal(t, 2, h.spawned)
		require.Equal(t, ref("a"), actor.Resolve[visit](s, ref("a").String()), "it is sent as a path that any node can resolve")
		require.Equal(t, "understudy://"+s.Name()+"/hotel/a", ref("a").String())
	})
}

// A straightHotel lets guests receive their visitors from other nodes themselves.
type straightHotel struct {
	inHotel
	received []int // numbers of the visitors that have come to the hotel
}

func (h *straightHotel) Straight(id string) actor.AnyRef {
	h.mu.Lock()
	defer h.mu.Unlock()
	if guest := h.living[id]; guest != (actor.ActorRef[visit]{}) {
		return guest
	}
	return nil
}

func (h *straightHotel) Arrived(path string, _ uint64, msg any, encoded extension.Arrival) actor.AnyRef {
	h.received = append(h.received, msg.(visit).N)
	return h.Told(path, msg, encoded.Metadata)
}

// Whatever the router has to decide stays in its place among the messages that it does not see.
func TestMessagesOfOtherNodesGoStraightToAnActorWhileItsRouterWouldOnlyOfferThem(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var got []int
		var failed []int
		h := &straightHotel{inHotel: inHotel{&hotel{living: map[string]actor.ActorRef[visit]{}, waiting: map[string][]visit{}}, func(string) actor.Behavior[visit] {
			return behaviors.Receive(func(_ *actor.Context[visit], v visit) actor.Behavior[visit] {
				got = append(got, v.N)
				return behaviors.Same
			})
		}}}
		openHotel(s, h.hotel, nil, h)
		arrive := func(numbers ...int) {
			var all []actorhook.Arrival
			for _, n := range numbers {
				switch n {
				case 5: // has values
					all = append(all, arrivalOf(t, visit{N: n}))
					all[len(all)-1].Metadata = extension.Metadata{}.With(metadata.Key(2000), []byte("x"))
				case 8:
					all = append(all, actorhook.Arrival{Type: "test.visit", Data: []byte{0xff}})
				default:
					all = append(all, arrivalOf(t, visit{N: n}))
				}
			}
			arrivals(s)("/hotel/a", 7, all, dispatcher(func(i int, err error) {
				require.Error(t, err)
				failed = append(failed, numbers[i])
			}))
		}
		arrive(1, 2) // nobody is awake
		require.Equal(t, []int{1, 2}, h.received)
		arrive(3, 4, 5, 6)
		arrive(7, 8, 9)
		require.Equal(t, []int{1, 2, 5, 6}, h.received, "the router gets what follows, too")
		h.guests.Finish(h.hotel.guest())
		arrive(10, 11) // which it does not take any more
		require.Equal(t, []int{1, 2, 5, 6, 10, 11}, h.received)
		synctest.Wait()
		require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 9, 10, 11}, got)
		require.Equal(t, []int{8}, failed)
		require.Equal(t, 2, h.spawned)
	})
}

func TestAnOwnerMayRefuseAnActorEachTimeThatItHasStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := errors.New("no vacancy")
		starts := 0
		h, ref := newHotel(testkit.NewSystem(t), nil, func(id string) actor.Behavior[visit] {
			return behaviors.Supervise(behaviors.Setup(func(*actor.Context[visit]) actor.Behavior[visit] {
				if starts++; starts == 1 {
					panic("its first behavior")
				}
				handle := countsVisits(id)
				return func(ctx *actor.Context[visit], next *actor.Next[visit]) {
					handle(ctx, next)
					reply := next.OnMessage
					next.OnMessage = func(ctx *actor.Context[visit], v visit) actor.Behavior[visit] {
						if v.ReplyTo == (actor.ActorRef[string]{}) {
							panic("in a handler")
						}
						return reply(ctx, v)
					}
				}
			}), actor.Strategy{Limit: 10})
		})
		require.Equal(t, "a 1", askHow(t, ref("a")))
		require.Equal(t, []int{2, 1}, []int{starts, h.begun}, "the first start has failed")
		h.refusal = refusal
		ref("a").Tell(visit{})
		synctest.Wait()
		require.Equal(t, []error{refusal}, h.failures, "supervision does not start it again")
		require.Equal(t, []int{3, 2}, []int{starts, h.begun})
	})
}

func TestMessagesThatAnActorHasNotHandledWakeTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		var got []int
		h, ref := newHotel(s, nil, func(string) actor.Behavior[visit] {
			left := 10
			return behaviors.Receive(func(_ *actor.Context[visit], v visit) actor.Behavior[visit] {
				got = append(got, v.N)
				if left--; left == 0 {
					return behaviors.Stopped[visit]
				}
				return nil
			})
		})
		all := effort.Of(1_000, 2_000, 10_000)
		for n := range all {
			ref("a").Tell(visit{N: n})
		}
		synctest.Wait()
		require.Len(t, got, all)
		for n := range all {
			require.Equal(t, n, got[n])
		}
		require.GreaterOrEqual(t, h.spawned, all/10)
	})
}

func TestARestingActorIsWokenByTheNextMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		h, ref := newHotel(s, nil, countsVisits)
		require.Equal(t, "a 1", askHow(t, ref("a")))
		spawned, worked := h.guests.Used(h.guest())
		require.True(t, worked)
		h.rounds.Begin()
		require.Equal(t, "a 2", askHow(t, ref("a")))
		used, _ := h.guests.Used(h.guest())
		require.EqualValues(t, 1, extension.Since(spawned, used))
		h.guests.Rest(h.guest())
		synctest.Wait()
		require.Zero(t, h.guest())
		require.Equal(t, "a 1", askHow(t, ref("a")), "of another actor")
		require.Equal(t, 2, h.spawned)
	})
}

func TestAnActorThatWaitsForSomethingDoesNotRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		slow := actor.Spawn(s, behaviors.Ignore[visit], "")
		h, ref := newHotel(s, nil, func(string) actor.Behavior[visit] {
			return behaviors.Receive(func(ctx *actor.Context[visit], v visit) actor.Behavior[visit] {
				if v.N == 1 {
					actor.AskToSelf(ctx, slow, time.Minute, visitBy, func(string, error) visit { return visit{N: 2} })
				}
				return nil
			})
		})
		ref("a").Tell(visit{N: 1})
		synctest.Wait()
		h.guests.Rest(h.guest())
		synctest.Wait()
		require.NotZero(t, h.guest())
		time.Sleep(time.Minute)
		synctest.Wait()
		h.guests.Rest(h.guest())
		synctest.Wait()
		require.Zero(t, h.guest())
	})
}

// An actor keeps the lower bits of its round.
func TestTheAgeOfAnActorIsKnownAfterMillionsOfRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, ref := newHotel(testkit.NewSystem(t), nil, func(string) actor.Behavior[visit] { return behaviors.Ignore[visit] })
		for range 4 {
			for range 1 << 22 {
				h.rounds.Begin()
			}
			ref("a").Tell(visit{N: 1})
			synctest.Wait()
			used, _ := h.guests.Used(h.guest())
			require.EqualValues(t, 1, extension.Since(used, h.rounds.Begin()))
		}
	})
}

// A behavior that recovers blocks while it starts, for longer than its actor may be idle.
func TestAnActorThatStartsDoesNotRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		starts := 0
		h, ref := newHotel(s, nil, func(id string) actor.Behavior[visit] {
			return behaviors.Supervise(behaviors.Setup(func(*actor.Context[visit]) actor.Behavior[visit] {
				starts++
				time.Sleep(time.Minute)
				return behaviors.Receive(func(_ *actor.Context[visit], v visit) actor.Behavior[visit] {
					if v.N == 1 {
						panic("as it was told")
					}
					return nil
				})
			}), actor.Strategy{Limit: 10})
		})
		ref("a").Tell(visit{N: 1})
		spawned, _ := h.guests.Used(h.guest())
		for range 2 { // it fails at the message, and starts again
			time.Sleep(time.Second)
			require.True(t, h.guests.Starting(h.guest()))
			h.guests.Rest(h.guest())
			h.rounds.Begin()
			time.Sleep(time.Minute - time.Second)
		}
		synctest.Wait()
		require.NotZero(t, h.guest())
		require.False(t, h.guests.Starting(h.guest()))
		used, _ := h.guests.Used(h.guest())
		require.EqualValues(t, 2, extension.Since(spawned, used), "the end of its start counts as a use")
		require.Equal(t, 2, starts)
		h.guests.Rest(h.guest())
		synctest.Wait()
		require.Zero(t, h.guest())
	})
}

func TestAnActorThatIsToFinishHandlesWhatItHasAndItsLastMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		var got []int
		h, ref := newHotel(s, visit{N: -1}, func(string) actor.Behavior[visit] {
			return behaviors.Receive(func(_ *actor.Context[visit], v visit) actor.Behavior[visit] {
				got = append(got, v.N)
				if v.N == -1 {
					return behaviors.Stopped[visit]
				}
				return nil
			})
		})
		ref("a").Tell(visit{N: 1})
		ref("a").Tell(visit{N: 2})
		h.guests.Finish(h.guest())
		ref("a").Tell(visit{N: 3})
		synctest.Wait()
		require.Equal(t, []int{1, 2, -1, 3}, got)
		require.Equal(t, 2, h.spawned)
	})
}

func TestARoutedRefCannotBeWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		_, ref := newHotel(s, nil, countsVisits)
		failed := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[visit]) actor.Behavior[visit] {
			require.Panics(t, func() { ctx.Watch(ref("a")) })
			return behaviors.Stopped[visit]
		}), "")
		_ = failed
		synctest.Wait()
	})
}

func TestWhatAnInnerBehaviorSpawnsToReturnIsAChildOfItsActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		got := testkit.NewProbe[string](t, s)
		inner := behaviors.Receive(func(ctx *actor.Context[int], _ int) actor.Behavior[int] {
			guests := extension.NewReturning(ctx.Self(), inHotel{hotel: new(hotel)}, nil, new(extension.Rounds))
			got.Ref().Tell(extension.SpawnReturning(guests, countsVisits("a"), "guest").Path())
			return nil
		})
		host := actor.Spawn(s, behaviors.Transform(inner, func(n int) (int, bool) { return n, true }), "host")
		host.Tell(1)
		got.Expect(host.Path() + "/guest")
	})
}

func TestPathsBelowSeveralTreesAreLookedUpInEach(t *testing.T) {
	s := testkit.NewSystem(t)
	probes := map[string]*testkit.Probe[int]{}
	for _, name := range []string{"first", "second", "third"} {
		p := testkit.NewProbe[int](t, s)
		probes[name] = p
		extension.AddTree(s, name, func(string) (actor.AnyRef, error) { return testkit.NewProbe[int](t, s).Ref(), nil })
		extension.AddTree(s, name, func(string) (actor.AnyRef, error) { return p.Ref(), nil }) // in its place
	}
	for name, p := range probes {
		actor.Resolve[int](s, "understudy://test/"+name+"/x").Tell(1)
		p.Expect(1)
	}
}
