package deathwatch

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/remote"
)

// A world is a node that watches and one that is watched, and what is on the way between
// them. Messages are lost, doubled and overtaken.
type world struct {
	t     *testing.T
	rand  *rand.Rand
	now   time.Time
	loss  float64
	mail  []outMessage
	here  *outgoing
	there *incoming
	far   remote.NodeID

	living map[uint64]bool      // actors there
	began  map[uint64]time.Time // watches here, of the actor of the same number, that wait for its end
	actor  map[uint64]uint64    // watched by that number
	heard  map[uint64]bool
}

const (
	hereAt  = "here:1"
	thereAt = "there:2"
)

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, rand: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1000, 0), //nolint:gosec // a simulation
		far: remote.NodeID{Address: thereAt, Incarnation: 1}, living: map[uint64]bool{}, began: map[uint64]time.Time{},
		actor: map[uint64]uint64{}, heard: map[uint64]bool{},
	}
	w.here = newOutgoing(remote.NodeID{Address: hereAt, Incarnation: 100})
	w.there = newIncoming(func() remote.NodeID { return w.far })
	return w
}

// collect does what the shell does.
func (w *world) collect() {
	w.mail = append(w.mail, w.here.post...)
	w.here.post = nil
	for _, number := range w.here.over {
		require.False(w.t, w.heard[number], "an end is told once")
		require.NotZero(w.t, w.began[number], "nothing is told of what is not watched")
		require.False(w.t, w.living[w.actor[number]], "what lives has not ended")
		w.heard[number] = true
		delete(w.began, number)
	}
	w.here.over = nil
	for len(w.there.begun) > 0 {
		x := w.there.begun[0]
		w.there.begun = w.there.begun[1:]
		if !w.living[x.target.UID] {
			w.endThere(x)
		}
	}
	w.there.dropped = nil
	w.mail = append(w.mail, w.there.post...)
	w.there.post = nil
}

// endThere tells the end of what is watched, as the shell does.
func (w *world) endThere(x incomingID) {
	w.mail = append(w.mail, outMessage{x.from.Address, wireEnded{To: x.from, At: x.at, Numbers: []uint64{x.target.Number}}})
	w.there.ended(x)
}

// die ends an actor.
func (w *world) die(uid uint64) {
	delete(w.living, uid)
	for _, g := range w.there.remoteWatchers {
		for number, x := range g.watches {
			if w.actor[number] == uid && !x.ended {
				w.endThere(incomingID{g.from, g.at, wireTarget{Number: number}})
			}
		}
	}
}

// deliver takes a message from the way, or loses it.
func (w *world) deliver() {
	if len(w.mail) == 0 {
		return
	}
	i := 0
	if w.rand.Float64() < w.loss {
		i = w.rand.IntN(len(w.mail))
	}
	p := w.mail[i]
	fate := w.rand.Float64()
	if fate > w.loss/4 { // else it comes again
		w.mail = slices.Delete(w.mail, i, i+1)
	}
	if fate > 1-w.loss {
		return
	}
	switch msg := p.msg.(type) {
	case wireWatch:
		w.there.watch(msg, w.now)
	case wireUnwatch:
		w.there.unwatch(msg)
	case wireCheck:
		w.there.check(msg, w.now)
	case wireChecked:
		w.here.checked(msg, w.now)
	case wireEnded:
		w.here.ended(msg)
	}
	w.collect()
}

func (w *world) step() {
	switch w.rand.IntN(12) {
	case 0:
		uid := uint64(len(w.actor) + 1)
		w.living[uid] = w.rand.IntN(4) > 0
		number := w.here.watch(thereAt, "/user/x", uid, w.now)
		w.began[number], w.actor[number] = w.now, uid
	case 1:
		for uid, lives := range w.living {
			if lives {
				w.die(uid)
				break
			}
		}
	case 2:
		for number := range w.began {
			w.here.unwatch(thereAt, number)
			delete(w.began, number)
			break
		}
	case 3, 4:
		w.pass(time.Duration(w.rand.IntN(3000)) * time.Millisecond)
	default:
		w.deliver()
	}
	w.collect()
}

func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	w.here.tick(w.now)
	w.there.tick(w.now)
	w.collect()
}

// calm lets the network behave, and everything arrive, for a while.
func (w *world) calm(d time.Duration) {
	w.loss = 0
	for end := w.now.Add(d); w.now.Before(end); {
		for len(w.mail) > 0 {
			w.deliver()
		}
		w.pass(checkInterval)
	}
	for len(w.mail) > 0 {
		w.deliver()
	}
}

func TestEveryEndIsToldOnceWhateverTheNetworkDoes(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, seed)
			for round := range 5 {
				w.loss = float64(round) / 8
				for range 300 {
					w.step()
				}
				w.calm(30 * time.Second)
				for number := range w.began {
					require.True(t, w.living[w.actor[number]], "watch %d: the end is told", number)
				}
				w.requireAgreement()
			}
		})
	}
}

// requireAgreement checks that both sides know the same, and no more.
func (w *world) requireAgreement() {
	w.t.Helper()
	g := w.there.remoteWatchers[watcherKey{hereAt, thereAt}]
	p := w.here.byAddress[thereAt]
	if p == nil {
		w.calm(2 * watcherTTL)
		require.Empty(w.t, w.there.remoteWatchers)
		return
	}
	require.Len(w.t, p.watches, len(w.began))
	require.Equal(w.t, p.sum, g.sum)
	require.Len(w.t, g.watches, len(p.watches))
}

// A node that loses its memory, or is another process, ends all watches; so does one that
// is no member any more.
func TestEveryWatchEndsWithTheIncarnationWhateverTheNetworkDoes(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, seed)
			w.loss = float64(seed%4) / 8
			for range 500 {
				w.step()
			}
			w.far.Incarnation = 2
			w.there = newIncoming(func() remote.NodeID { return w.far })
			before := w.living
			w.living = map[uint64]bool{}
			for range 300 {
				w.step()
			}
			w.calm(30 * time.Second)
			for number := range w.began {
				require.False(t, before[w.actor[number]], "watch %d of the incarnation before", number)
			}
			w.requireAgreement()
		})
	}
}

func TestAFormerMemberEndsWhatItHasConfirmedAtOnce(t *testing.T) {
	w := newWorld(t, 1)
	me, far := w.here.self, w.far
	w.here.view(true, me, []remote.NodeID{me, far}, 0, w.now)
	w.living[7] = true
	number := w.here.watch(thereAt, "/user/x", 7, w.now)
	w.began[number], w.actor[number] = w.now, 7
	w.calm(3 * time.Second)

	w.here.view(false, me, nil, 0, w.now)
	w.calm(time.Hour)
	require.Empty(t, w.heard, "in no cluster nobody can tell")
	require.Empty(t, w.here.view(true, remote.NodeID{Address: hereAt, Incarnation: 101}, []remote.NodeID{me}, 0, w.now),
		"the first view of a new member does not know everybody")
	w.here.self = me
	w.here.view(true, me, []remote.NodeID{me, far}, 0, w.now)
	require.Empty(t, w.here.over)

	w.living[7] = false
	require.Equal(t, []formerMember{{NodeID: far}}, w.here.view(true, me, []remote.NodeID{me, {Address: thereAt, Incarnation: 2}}, 0, w.now))
	w.collect()
	require.True(t, w.heard[number])
}

func TestASilentAddressWithoutAMemberEndsItsWatchesAfterTenSeconds(t *testing.T) {
	w := newWorld(t, 1)
	me := w.here.self
	w.here.view(true, me, []remote.NodeID{me}, 0, w.now)
	number := w.here.watch(thereAt, "/user/x", 7, w.now)
	w.began[number], w.actor[number] = w.now, 7
	for range 9 {
		w.mail = nil
		w.pass(time.Second)
		require.Empty(t, w.heard)
	}
	w.mail = nil
	w.pass(time.Second)
	require.True(t, w.heard[number])
	require.Empty(t, w.here.byAddress)
	require.Zero(t, w.here.next())
}

func TestASilentMemberEndsNothing(t *testing.T) {
	w := newWorld(t, 1)
	me := w.here.self
	w.here.view(true, me, []remote.NodeID{me, w.far}, 0, w.now)
	number := w.here.watch(thereAt, "/user/x", 7, w.now)
	w.began[number] = w.now
	for range 3600 {
		w.mail = nil
		w.pass(time.Second)
	}
	require.Empty(t, w.heard)
	w.here.view(true, me, []remote.NodeID{me}, 0, w.now)
	w.pass(0)
	require.True(t, w.heard[number], "it has been silent for long enough when it is removed")
}

func TestAWatchingNodeThatSendsNoChecksIsForgotten(t *testing.T) {
	w := newWorld(t, 1)
	w.living[7] = true
	w.here.watch(thereAt, "/user/x", 7, w.now)
	w.collect()
	w.deliver()
	require.Len(t, w.there.remoteWatchers, 1)
	w.there.begun = nil
	require.Equal(t, w.now.Add(watcherTTL), w.there.next())
	w.now = w.there.next()
	w.there.tick(w.now)
	require.Empty(t, w.there.remoteWatchers)
	require.Len(t, w.there.dropped, 1)
	require.Zero(t, w.there.next())
}

func TestAFormerMemberWatchesNothingAnyMore(t *testing.T) {
	w := newWorld(t, 1)
	w.living[7] = true
	w.here.watch(thereAt, "/user/x", 7, w.now)
	w.collect()
	w.deliver()
	w.there.gone(w.here.self)
	require.Empty(t, w.there.remoteWatchers)
	require.Len(t, w.there.dropped, 1)
}

func TestAnotherIncarnationThatAnswersALaterCheckEndsWhatTheOneBeforeHasConfirmed(t *testing.T) {
	w := newWorld(t, 1)
	w.living[7] = true
	number := w.here.watch(thereAt, "/user/x", 7, w.now)
	w.began[number], w.actor[number] = w.now, 7
	w.calm(3 * time.Second)
	confirmed := w.here.byAddress[thereAt].watches[number].check

	other := wireChecked{From: remote.NodeID{Address: thereAt, Incarnation: 2}, To: w.here.self, At: thereAt, Same: true}
	other.Check = confirmed - 1
	w.here.checked(other, w.now)
	require.Empty(t, w.here.over, "an answer that is older says nothing")

	later := w.here.watch(thereAt, "/user/y", 0, w.now)
	other.Check = w.here.last + 1
	w.living[7] = false
	w.here.checked(other, w.now)
	w.collect()
	require.True(t, w.heard[number])
	require.Contains(t, w.here.byAddress[thereAt].watches, later, "it may be meant for the new one")
}
