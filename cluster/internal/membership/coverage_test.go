package membership

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// kindsIn returns the types in a file that have a method with a name: the members of a closed
// set.
func kindsIn(t *testing.T, file, method string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	var kinds []string
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == method && f.Recv != nil {
			kinds = append(kinds, lower(f.Recv.List[0].Type.(*ast.Ident).Name))
		}
	}
	slices.Sort(kinds)
	return kinds
}

func kind(x any) string { return lower(strings.TrimPrefix(fmt.Sprintf("%T", x), "membership.")) }

// lower returns a name with its first letter in lower case.
func lower(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// n2 is the other member of the rigs below.
var n2 = id("n2:1", 2)

// A stage is a phase, divided by status for members.
type stage int

const (
	inIdle stage = iota
	inJoining
	inUp
	inLeaving
	inExiting
	inDowned
	inDeparting
	inEnded
	stages
)

var stageNames = [stages]string{"idle", "seeking", "up", "leaving", "exiting", "downed", "parting", "ended"}

// rigIn returns a machine in a stage. From the stage up on it has been in a cluster with n2.
func rigIn(s stage) *rig {
	switch s {
	case inIdle:
		r := newRig(nil)
		r.Machine, r.said = New(r.set), nil
		return r
	case inJoining:
		return newRig(nil, "n1:1", "n2:1")
	}
	r := newRig(nil)
	r.joins(n2, "n2")
	r.wait(300 * time.Millisecond)
	r.agrees()
	switch s {
	case inLeaving:
		r.happens(LeaveAsked{})
	case inExiting:
		r.happens(LeaveAsked{})
		r.happens(Drained{})
	case inDowned, inDeparting, inEnded:
		r.hears(n2, dissolve{Instead: []string{"n3:1"}})
	}
	if s >= inDeparting {
		r.happens(Drained{})
	}
	if s == inEnded {
		r.hears(n2, goneSeen{})
		r.wait(departPatience)
	}
	return r
}

// stage returns the stage of the machine.
func (r *rig) stage() stage {
	switch r.phase {
	case phaseIdle:
		return inIdle
	case phaseJoining:
		return inJoining
	case phaseDowned:
		return inDowned
	case phaseDeparting:
		return inDeparting
	case phaseEnded:
		return inEnded
	}
	switch r.table.status(r.self) {
	case Leaving:
		return inLeaving
	case Exiting:
		return inExiting
	}
	return inUp
}

// outcome returns a short text for what an event leads to.
func (r *rig) outcome(ev Input) string {
	state := func() string {
		q, found := r.contacts, r.discovery
		var heard uint64
		if subject := r.observation.monitor.subjects[n2]; subject != nil {
			heard = subject.seq
		}
		return fmt.Sprint(r.phase, r.clusters.gossip, r.departure.acked, r.table.pack(), r.unknown, r.departure.leaving,
			r.departure.rejoin, r.departure.known, q.addresses, q.aliases, q.negative, r.join.replaces, r.join.taken, r.acting, r.observation.monitor.last, found.addresses, found.first, found.since, found.at, found.last, found.due, found.busy, heard)
	}
	before, stageBefore := state(), r.stage()
	r.said, r.dissemination.hasNews = nil, false // what it would send anyway
	r.happens(ev)
	var did []string
	for _, a := range r.said {
		switch a := a.(type) {
		case Send:
			did = append(did, "send "+kind(a.msg))
		case Beat, Spread, Connect, Discover, Forget, Publish, AcquireLease, Drain, Stop, Reply, End, Note:
			did = append(did, kind(a))
		case Decided: // is only counted
		}
	}
	did = slices.Compact(did)
	if n := len(did) - 1; n > 0 && did[n] == "send heartbeat" {
		did = did[:n] // it sends the change to others
	}
	if now := r.stage(); now != stageBefore {
		did = append(did, "→ "+stageNames[now])
	}
	switch {
	case len(did) > 0:
		return strings.Join(did, ", ")
	case state() != before:
		return "noted"
	}
	return "-"
}

// eventsFor returns one event of each kind except received.
func eventsFor(r *rig) map[string]Input {
	r.clock = r.clock.Add(200 * time.Millisecond)
	return map[string]Input{
		"started":           Started{},
		"ticked":            Ticked{},
		"gossiped":          Gossiped{tablePush{From: n2, Table: r.tellsOfN3()}},
		"dialFailed":        DialFailed{Address: "n2:1", Refused: true},
		"connected":         Connected{ID: n2, On: true},
		"leaveAsked":        LeaveAsked{},
		"downAsked":         DownAsked{"n2"},
		"foundWithoutAsked": FoundWithoutAsked{Addresses: []string{"n2:1"}},
		"drained":           Drained{},
		"found":             Found{Addresses: []string{"n9:1"}},
		"leaseAnswered":     LeaseAnswered{Number: 1, Held: true},
		"stopped":           Stopped{},
	}
}

// messagesFor returns one of each message, as n2 would send it to r.
func messagesFor(r *rig) map[string]message {
	without := newTable(r.table.cluster)
	without.tombstones[r.self] = tombstone{At: 1}
	without.members[n2] = Member{Name: "n2", Address: n2.Address, Incarnation: n2.Incarnation, Status: Up, UpNumber: 2}
	return map[string]message{
		"heartbeat":   heartbeat{Cluster: r.table.cluster, Seq: 1 << 62, Stream: true, Seen: []byte{99}, Members: 1, All: 1},
		"joinRequest": joinRequest{To: "n1:1", Name: "n2", Agreement: r.set.agreement()},
		"joinAnswer":  joinAnswer{To: "n2:1", Verdict: notMember},
		"tablePull":   tablePull{},
		"tablePush":   tablePush{From: n2, Table: r.tellsOfN3()},
		"youAreDown":  youAreDown{Table: without.pack()},
		"gone":        gone{},
		"goneSeen":    goneSeen{},
		"observe":     observe{},
		"greeting":    greeting{Cluster: ClusterID{9}, Size: 9},
		"dissolve":    dissolve{Instead: []string{"n9:1"}},
	}
}

// tellsOfN3 returns a table with another member.
func (r *rig) tellsOfN3() packed {
	c := r.change()
	c.members[id("n3:1", 3)] = Member{Name: "n3", Address: "n3:1", Incarnation: 3, Status: Joining}
	return c.pack()
}

func TestEveryEventIsDecidedInEveryStage(t *testing.T) {
	kinds := slices.DeleteFunc(kindsIn(t, "input.go", "input"), func(k string) bool { return k == "received" })
	for s := range stages {
		for _, k := range kinds {
			r := rigIn(s)
			require.Equal(t, s, r.stage())
			ev, ok := eventsFor(r)[k]
			require.True(t, ok, "%s is new: add one of it, and what it leads to in each stage", k)
			want, ok := eventTable[k]
			require.True(t, ok, "%s is new: say what it leads to in each stage", k)
			require.Equal(t, want[s], r.outcome(ev), "%s when %s", k, stageNames[s])
		}
	}
}

func TestEveryMessageIsDecidedInEveryStage(t *testing.T) {
	for s := range stages {
		for _, k := range kindsIn(t, "receive.go", "message") {
			r := rigIn(s)
			msg, ok := messagesFor(r)[k]
			require.True(t, ok, "%s is new: add one of it, and what it leads to in each stage", k)
			want, ok := messageTable[k]
			require.True(t, ok, "%s is new: say what it leads to in each stage", k)
			require.Equal(t, want[s], r.outcome(Received{From: n2, msg: msg}), "%s when %s", k, stageNames[s])
		}
	}
}

// What each event leads to: the actions, and the next stage if it changes. "noted" means that
// only the state of the machine changes, and "-" that the event has no effect.
var eventTable = map[string][stages]string{
	"connected": {
		inIdle:      "noted",
		inJoining:   "noted",
		inUp:        "noted",
		inLeaving:   "noted",
		inExiting:   "noted",
		inDowned:    "noted",
		inDeparting: "noted",
		inEnded:     "noted",
	},
	"downAsked": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "note, send tablePush, spread, publish",
		inLeaving:   "note, send tablePush, spread, publish",
		inExiting:   "note, send tablePush, spread, publish",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"drained": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "-",
		inLeaving:   "send tablePush, spread, publish, stop, → exiting",
		inExiting:   "-",
		inDowned:    "send gone, publish, → parting",
		inDeparting: "-",
		inEnded:     "-",
	},
	"found": {
		inIdle:      "noted",
		inJoining:   "send joinRequest",
		inUp:        "noted",
		inLeaving:   "noted",
		inExiting:   "noted",
		inDowned:    "noted",
		inDeparting: "noted",
		inEnded:     "noted",
	},
	"gossiped": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "spread, publish",
		inLeaving:   "spread, publish",
		inExiting:   "spread, publish",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"leaveAsked": {
		inIdle:      "end, → ended",
		inJoining:   "end, → ended",
		inUp:        "send tablePush, spread, publish, drain, → leaving",
		inLeaving:   "-",
		inExiting:   "-",
		inDowned:    "noted",
		inDeparting: "noted",
		inEnded:     "noted",
	},
	"leaseAnswered": { // the machine has not asked for the lease
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "-",
		inLeaving:   "-",
		inExiting:   "-",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"dialFailed": {
		inIdle:      "-",
		inJoining:   "note, spread, publish, → up",
		inUp:        "send tablePush, spread, publish",
		inLeaving:   "send tablePush, spread, publish",
		inExiting:   "send tablePush, spread, publish",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"started": {
		inIdle:      "note, publish, spread, publish, → up",
		inJoining:   "-",
		inUp:        "-",
		inLeaving:   "-",
		inExiting:   "-",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"stopped": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "-",
		inLeaving:   "-",
		inExiting:   "send gone, publish, → parting",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"ticked": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "beat",
		inLeaving:   "beat",
		inExiting:   "beat",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"foundWithoutAsked": { // its error is in the reply
		inIdle:      "reply",
		inJoining:   "note, send joinRequest, note, reply, spread, publish, → up",
		inUp:        "reply",
		inLeaving:   "reply",
		inExiting:   "reply",
		inDowned:    "reply",
		inDeparting: "reply",
		inEnded:     "reply",
	},
}

// What each message from another member leads to, in the same form.
var messageTable = map[string][stages]string{
	"dissolve": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "note, publish, drain, → downed",
		inLeaving:   "note, publish, drain, → downed",
		inExiting:   "note, publish, drain, → downed",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"gone": {
		inIdle:      "send goneSeen",
		inJoining:   "send goneSeen",
		inUp:        "send goneSeen, forget, spread, publish",
		inLeaving:   "send goneSeen, forget, spread, publish",
		inExiting:   "send goneSeen, forget, spread, publish",
		inDowned:    "send goneSeen",
		inDeparting: "send goneSeen",
		inEnded:     "send goneSeen",
	},
	"goneSeen": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "noted",
		inLeaving:   "noted",
		inExiting:   "noted",
		inDowned:    "noted",
		inDeparting: "noted",
		inEnded:     "-",
	},
	"greeting": {
		inIdle:      "-",
		inJoining:   "send joinRequest",
		inUp:        "note, send dissolve, note, publish, drain, → downed",
		inLeaving:   "note, send dissolve, note, publish, drain, → downed",
		inExiting:   "note, send dissolve, note, publish, drain, → downed",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"heartbeat": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "noted",
		inLeaving:   "noted",
		inExiting:   "noted",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"joinAnswer": {
		inIdle:      "-",
		inJoining:   "note, spread, publish, → up",
		inUp:        "-",
		inLeaving:   "-",
		inExiting:   "-",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"joinRequest": {
		inIdle:      "send joinAnswer",
		inJoining:   "send joinRequest, send joinAnswer",
		inUp:        "send joinAnswer",
		inLeaving:   "send joinAnswer",
		inExiting:   "send joinAnswer",
		inDowned:    "send joinAnswer",
		inDeparting: "send joinAnswer",
		inEnded:     "send joinAnswer",
	},
	"observe": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "send heartbeat",
		inLeaving:   "send heartbeat",
		inExiting:   "send heartbeat",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"tablePull": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "send tablePush",
		inLeaving:   "send tablePush",
		inExiting:   "send tablePush",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"tablePush": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "spread, publish",
		inLeaving:   "spread, publish",
		inExiting:   "spread, publish",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
	"youAreDown": {
		inIdle:      "-",
		inJoining:   "-",
		inUp:        "note, publish, drain, → downed",
		inLeaving:   "note, publish, drain, → downed",
		inExiting:   "note, publish, drain, → downed",
		inDowned:    "-",
		inDeparting: "-",
		inEnded:     "-",
	},
}
