package deathwatch

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/remote"
)

// A fate is a watching node that knows of one member, and of the actors of it and of the process
// after it.
type fate struct {
	*outgoing
	me, far, renamed, next remote.NodeID
	mine, its              uint64 // actors of far, which is renamed too, and of next
}

var fateNow = time.Unix(1000, 0)

func newFate() *fate {
	peer := func(number uint64) remote.NodeID { return remote.NodeID{Address: thereAt, Incarnation: number} }
	f := &fate{me: remote.NodeID{Address: hereAt, Incarnation: 100}, far: peer(node.NewIncarnation()), next: peer(node.NewIncarnation())}
	f.renamed = peer(node.RenewIncarnation(f.far.Incarnation))
	f.mine, f.its = node.FirstActor(f.far.Incarnation), node.FirstActor(f.next.Incarnation)
	f.outgoing = newOutgoing(f.me)
	f.see(f.far)
	return f
}

func (f *fate) see(others ...remote.NodeID) { f.view(true, f.me, append(others, f.me), 0, fateNow) }

// ends begins a watch, and reports whether it ends at once.
func (f *fate) ends(uid uint64) bool {
	before := len(f.over)
	f.watch(thereAt, "/user/x", uid, fateNow)
	return len(f.over) > before
}

// An unconfirmed watch ends with its process. It does not end with the process before, or when the
// process continues as another member.
func TestAnUnconfirmedWatchEndsWithTheRemovalOfItsProcess(t *testing.T) {
	for _, test := range []struct {
		name             string
		happens          func(f *fate)
		mine, its, paths bool // which watches end
	}{
		{"nobody follows", func(f *fate) { f.see() }, true, false, true},
		{"another process is a member", func(f *fate) { f.see(f.next) }, true, false, false},
		{"another process has answered", func(f *fate) { f.met(f.next, 0); f.see() }, true, false, false},
		{"another process has answered a check", func(f *fate) {
			f.checked(wireChecked{From: f.next, To: f.me, At: thereAt}, fateNow)
			f.see()
		}, true, false, false},
		{"it had answered itself", func(f *fate) { f.met(f.far, 0); f.see() }, true, false, true},
		{"the process is another member", func(f *fate) { f.see(f.renamed) }, false, false, false},
		{"the process has answered under another name", func(f *fate) { f.met(f.renamed, 0); f.see() }, false, false, false},
		{"this node is in no cluster", func(f *fate) { f.view(false, f.me, nil, 0, fateNow) }, false, false, false},
		{"this node is a new member", func(f *fate) {
			f.me.Incarnation++
			f.see()
		}, false, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFate()
			mine := f.watch(thereAt, "/user/mine", f.mine+5, fateNow)
			its := f.watch(thereAt, "/user/its", f.its+5, fateNow)
			path := f.watch(thereAt, "/user/path", 0, fateNow)
			test.happens(f)
			for number, ends := range map[uint64]bool{mine: test.mine, its: test.its, path: test.paths} {
				require.Equal(t, ends, slices.Contains(f.over, number))
			}
		})
	}
}

func TestAWatchOfAProcessThatIsGoneEndsAtOnceUntilItIsBack(t *testing.T) {
	for name, back := range map[string]func(f *fate){
		"another member":   func(f *fate) { f.see(f.renamed) },
		"it answers":       func(f *fate) { f.met(f.renamed, 0) },
		"in no cluster":    func(f *fate) { f.view(false, f.me, nil, 0, fateNow) },
		"a new member":     func(f *fate) { f.me.Incarnation++; f.see() },
		"too many removed": func(f *fate) { f.removeMany(maxGone) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFate()
			require.False(t, f.ends(f.mine))
			f.see()
			for _, other := range []func(){func() {}, func() { f.met(f.far, 0) }, func() { f.met(f.next, 0) }, func() { f.see(f.next) }} {
				other()
				require.True(t, f.ends(f.mine+1))
				require.False(t, f.ends(f.its))
				require.False(t, f.ends(0))
			}
			require.Empty(t, f.back)
			back(f)
			require.Contains(t, f.back, thereAt)
			require.False(t, f.ends(f.mine))
		})
	}
}

// removeMany lets so many members come and go that nobody has room for them and one more.
func (f *fate) removeMany(count int) {
	for round := 0; f.members.gone[thereAt] != 0; round++ {
		var all []remote.NodeID
		for i := range count {
			all = append(all, remote.NodeID{Address: fmt.Sprintf("n%d-%d:1", round, i), Incarnation: node.NewIncarnation()})
		}
		f.see(all...)
		f.see()
	}
	if len(f.members.gone) > maxGone {
		panic("too many are remembered")
	}
}

// An ask of a path that begins after the successor of a member is known is of the successor. It
// does not end with the member, however long that takes to be removed.
func TestAsksOfASuccessorDoNotEndWithTheFormerMember(t *testing.T) {
	for name, c := range map[string]struct {
		learn    func(f *fate) // of the successor, at ask 10; the next view has ask 20
		others   bool          // the view has the successor
		firstAsk uint64
	}{
		"met first":        {func(f *fate) { f.met(f.next, 10) }, false, 10},
		"met twice":        {func(f *fate) { f.met(f.next, 10); f.met(f.next, 15) }, true, 10},
		"met before views": {func(f *fate) { f.met(f.next, 10); f.see(f.far) }, true, 10},
		"a member first":   {func(*fate) {}, true, 20},
		"none":             {func(*fate) {}, false, math.MaxUint64},
		"only itself":      {func(f *fate) { f.met(f.far, 10) }, false, math.MaxUint64},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFate()
			f.see(f.far)
			c.learn(f)
			now := []remote.NodeID{f.me}
			if c.others {
				now = append(now, f.next)
			}
			gone := f.view(true, f.me, now, 20, fateNow)
			require.Equal(t, []formerMember{{f.far, c.firstAsk}}, gone)
			require.True(t, gone[0].mayHave(0, c.firstAsk-1))
			require.False(t, gone[0].mayHave(0, c.firstAsk))
			require.True(t, gone[0].mayHave(node.FirstActor(f.far.Incarnation), 30), "its own actors are gone")
			require.False(t, gone[0].mayHave(node.FirstActor(f.next.Incarnation), 1))
		})
	}
}
