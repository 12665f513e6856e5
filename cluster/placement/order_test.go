package placement_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/internal/effort"
)

// A note is a message of some size.
type note struct {
	From    string
	Number  int
	Pad     []byte
	ReplyTo actor.ActorRef[string] // gets the node of the actor, if somebody asks
}

func init() { actor.RegisterType[note]("placement-test.note") }

// clerks write down what they get, in a book that survives them.
var clerks = placement.NewType[string, note]("clerk")

type book struct {
	mu   sync.Mutex // guards all below
	got  map[string][]int
	from map[string]int // notes by the node of the clerk
}

var books sync.Map

func bookOf(name string) *book {
	b, _ := books.LoadOrStore(name, &book{got: map[string][]int{}, from: map[string]int{}})
	return b.(*book)
}

func newClerk(name string) actor.Behavior[note] {
	b := bookOf(name)
	return behaviors.Receive(func(ctx *actor.Context[note], n note) actor.Behavior[note] {
		time.Sleep(2 * time.Millisecond) // so that notes wait in the mailbox
		b.mu.Lock()
		defer b.mu.Unlock()
		b.got[n.From] = append(b.got[n.From], n.Number)
		b.from[ctx.System().Address()]++
		if n.ReplyTo != (actor.ActorRef[string]{}) {
			n.ReplyTo.Tell(ctx.System().Address())
		}
		return behaviors.Same
	})
}

// noteSizes are the sizes of notes: in one part, in several, and in many.
var noteSizes = []int{1, 30_000, 300_000, 1_000_000}

// write tells the clerk notes from some nodes, and asks it now and then, while f runs. No ask may
// fail.
func (w *world) write(each int, from []string, f func()) {
	w.t.Helper()
	var writing sync.WaitGroup
	for _, name := range from {
		n := w.Node(name)
		ref := clerks.Ref(n.System, "clerk")
		writing.Go(func() {
			for i := range each {
				size := 1
				if i%10 == len(name) {
					size = noteSizes[i/10%len(noteSizes)]
				}
				ref.Tell(note{From: name, Number: 2 * i, Pad: make([]byte, size)})
				if i%20 == 0 {
					writing.Go(func() {
						if err := errorOf(actor.AskTimeout(w.t.Context(), ref, time.Minute, func(r actor.ActorRef[string]) note {
							return note{From: name + " asks", Number: i, ReplyTo: r}
						})); err != nil {
							w.t.Error(err)
						}
					})
				}
				time.Sleep(8 * time.Millisecond)
			}
		})
	}
	f()
	writing.Wait()
	time.Sleep(time.Minute)
}

// requireAll checks that the clerk has had all notes, in the order of each sender.
func (w *world) requireAll(each int, from []string, nodes int) {
	w.t.Helper()
	b := bookOf(w.name)
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Len(w.t, b.from, nodes, "the nodes on which it was: %v", b.from)
	for _, name := range from {
		got := b.got[name]
		require.Len(w.t, got, each, name)
		for i := range got {
			require.Equal(w.t, 2*i, got[i], name)
		}
		require.Len(w.t, b.got[name+" asks"], (each+19)/20, name)
	}
}

func TestAPlannedMoveLosesNoMessageAndKeepsTheOrderOfEachSender(t *testing.T) {
	effort.Unraced(t)
	const each = 200
	there := func(w *world, name string) placement.SingletonSpec {
		return clerks.Singleton("clerk", w.name, placement.OnNode(name))
	}
	for name, move := range map[string]func(w *world){
		"of a singleton": func(w *world) {
			for i := range 5 {
				_, err := w.client["n1"].StartSingleton(w.t.Context(), there(w, fmt.Sprint("n", i%3+1)))
				require.NoError(w.t, err)
				time.Sleep(250 * time.Millisecond)
			}
		},
		"by removal and submission": func(w *world) {
			for i := range 5 {
				w.submit(clerks.Spec("clerk", w.name).WithConstraints(w.on(fmt.Sprint("n", i%3+1))))
				time.Sleep(250 * time.Millisecond)
				if i < 4 {
					require.NoError(w.t, w.client["n2"].Remove(w.t.Context(), "clerk"))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, func(t *testing.T, w *world) {
				t.Cleanup(func() { books.Delete(w.name) })
				w.Delay(3*time.Millisecond, 0)
				senders := []string{"n1", "n2", "n3"}
				w.write(each, senders, func() { move(w) })
				w.requireAll(each, senders, 3)
			}, withClerks)
		})
	}
}

// A node leaves. Its actor moves before, with all that other nodes have sent it.
func TestADrainLosesNoMessage(t *testing.T) {
	effort.Unraced(t)
	const each = 200
	inWorld(t, 4, func(t *testing.T, w *world) {
		t.Cleanup(func() { books.Delete(w.name) })
		w.submit(clerks.Spec("clerk", w.name).WithConstraints(placement.Constraints{Roles: []string{"role-n3", "role-n4"}}))
		settle()
		states := w.states("n1")
		leaver := states[0][len(states[0])-2:]
		w.Delay(3*time.Millisecond, 0)
		senders := []string{"n1", "n2"}
		w.write(each, senders, func() {
			time.Sleep(500 * time.Millisecond)
			w.Leave(leaver)
		})
		w.requireAll(each, senders, 2)
	}, withClerks)
}

func withClerks(cfg *setup) {
	cfg.Factories = append(slices.Clip(cfg.Factories), clerks.Factory(newClerk))
}
