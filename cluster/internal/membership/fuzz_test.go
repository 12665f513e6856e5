package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// phases bring a machine to each stage of its life. From the third one on n2 and n3 are
// members.
var phases = []func() *rig{
	func() *rig { return newRig(nil, "n9:1", "n1:1") },
	func() *rig { return newRig(nil) },
	withMembers,
	func() *rig { // n2 is unreachable, and down after a while
		r := withMembers()
		r.wait(2 * time.Second)
		return r
	},
	func() *rig {
		r := withMembers()
		r.happens(LeaveAsked{})
		return r
	},
	func() *rig {
		r := withMembers()
		r.happens(LeaveAsked{})
		r.happens(Drained{})
		return r
	},
	func() *rig {
		r := withMembers()
		r.departure.goDown("a test", nil)
		return r
	},
	func() *rig {
		r := newRig(nil, "n9:1")
		r.happens(LeaveAsked{})
		return r
	},
}

func withMembers() *rig {
	r := newRig(nil)
	r.joins(id("n2:1", 2), "n2")
	r.joins(id("n3:1", 3), "n3")
	return r
}

// FuzzMachine feeds a machine everything that can be decoded, in each phase. The machine must
// not panic, and a message from an unknown node must not remove a member.
func FuzzMachine(f *testing.F) {
	table := withMembers().table.pack()
	for _, msg := range append(samples(), joinAnswer{To: "n9:1", Verdict: welcome, Table: table}, youAreDown{Table: table},
		tablePush{From: id("n2:1", 2), Whole: true, Table: table}, joinRequest{To: "n1:1", Name: "n2", Replaces: []uint64{2}},
		greeting{Cluster: ClusterID{9}, Size: 1 << 63}, heartbeat{Cluster: ClusterID{1}, Seq: 1 << 63}) {
		for p := range phases {
			f.Add(uint8(p), uint8(p), encode(envelope{from: 2, msg: msg}))
		}
	}
	f.Fuzz(func(t *testing.T, p, who uint8, data []byte) {
		e, err := decode(data)
		if err != nil {
			return
		}
		r := phases[int(p)%len(phases)]()
		sender := []ID{id("n2:1", 2), id("n2:1", 77), id("stranger:1", 5), id("n1:1", 1)}[who%4]
		before, phase := r.table.pack().Members, r.phase
		r.hears(sender, e.msg)
		if r.table.status(sender) == 0 && !dissolves(r, e.msg) {
			require.Equal(t, before, r.table.pack().Members)
			require.Equal(t, phase, r.phase)
		}
		if sender.Address == "stranger:1" {
			for _, m := range before {
				require.Equal(t, m.Status, r.table.status(m.ID()), "%v is what it was", m.ID())
			}
		}
		if push, ok := e.msg.(tablePush); ok {
			r.happens(Gossiped{push})
		}
		r.hears(sender, e.msg)
		r.wait(time.Second)
		again, err := decode(encode(envelope{from: 1, msg: tablePush{From: r.self, Whole: true, Table: r.table.pack()}}))
		require.NoError(t, err, "what it tells others can be understood")
		require.Equal(t, r.table.pack(), again.msg.(tablePush).Table)
	})
}

// dissolves reports whether a node that is not a member may end this incarnation by a message.
// Another cluster may if ours is smaller, and our cluster may if it has removed us. While we
// look for a cluster, any node that was asked may.
func dissolves(r *rig, msg message) bool {
	switch msg := msg.(type) {
	case greeting:
		return true
	case youAreDown:
		return msg.Table.Cluster == r.table.cluster
	case joinAnswer:
		return r.phase != phaseMember
	case heartbeat, joinRequest, observe, tablePull, tablePush, gone, goneSeen, dissolve:
	}
	return false
}

func TestGossipOfAStrangerChangesNothing(t *testing.T) {
	r := withMembers()
	before := r.table.pack()
	forged := r.table.pack()
	for i := range forged.Members {
		forged.Members[i].Status = Down
	}
	for _, from := range []ID{{}, id("stranger:1", 5), id("n2:1", 77)} {
		r.happens(Gossiped{tablePush{From: from, Whole: true, Table: forged}})
		r.hears(from, tablePush{From: id("n2:1", 2), Whole: true, Table: forged})
		r.hears(from, gone{})
		r.hears(from, dissolve{Instead: []string{"stranger:1"}})
		r.hears(from, tablePull{})
	}
	r.happens(Connected{id("n2:1", 2), false}) // as memberlist may be made to believe
	r.happens(Connected{id("n3:1", 3), false})
	r.wait(300 * time.Millisecond)
	require.Equal(t, before.Members, r.table.pack().Members)
	require.Empty(t, r.table.tombstones)
	require.Equal(t, phaseMember, r.phase)
}
