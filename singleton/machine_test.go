package singleton

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/singleton/generation"
	"github.com/understudy-go/understudy/singleton/lease"
)

var update = flag.Bool("update", false, "write what the machine does into testdata/machine")

// The stories in testdata/machine tell a machine what happens, a line each, and have
// what it does below it. Members are written in the order of election: "@" before the
// name marks the node itself, "/" after it a state, and a number is an incarnation. The
// name is that of the node, too.
func TestTheMachineDoesWhatTheStoriesSay(t *testing.T) {
	files, err := filepath.Glob("testdata/machine/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := tell(t, string(text), func(Phase, event) {})
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}

func TestTheStoriesTellEveryEventInEveryPhase(t *testing.T) {
	told := map[string]bool{}
	files, err := filepath.Glob("testdata/machine/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		tell(t, string(text), func(p Phase, ev event) { told[fmt.Sprintf("%s: %T", p, ev)] = true })
	}
	for _, p := range []Phase{Pending, Standby, Asking, Acquiring, Host, HandingOver, Stopping, Ended} {
		for _, ev := range []event{
			viewed{},
			requested{},
			granted{},
			instanceEnded{},
			fenceHeld{},
			drainAsked{},
			ticked{},
			leaseAnswered{},
			leaseLost{},
			leaseReleased{},
			claimed{},
		} {
			pair := fmt.Sprintf("%s: %T", p, ev)
			require.True(t, told[pair], "no story tells %s", pair)
		}
	}
}

// tell runs the stories of a file and returns it with what the machines do now.
func tell(t *testing.T, text string, told func(Phase, event)) string {
	t.Helper()
	var out strings.Builder
	var s *story
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "    "): // what it did before
			continue
		case line == "" || strings.HasPrefix(line, "#"):
			s = nil
		default:
			if s == nil {
				s = newStory(t)
			}
			out.WriteString(line + "\n")
			line = s.run(line, told)
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// someLease and someSource say that there is one: the machine itself asks neither.
type (
	someLease  struct{ lease.Lease }
	someSource struct{ generation.TermSource }
)

type story struct {
	t       *testing.T
	machine *machine
	start   time.Time
	now     time.Time
}

func newStory(t *testing.T) *story {
	set := newSettings([]Option{RestartBackoff(actor.Backoff{Min: 100 * time.Millisecond, Max: time.Second})})
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	return &story{t: t, machine: newMachine("x", set), start: start, now: start}
}

// run does one line and describes what came of it.
func (s *story) run(line string, told func(Phase, event)) string {
	words := strings.Fields(line)
	ev := s.event(words[0], words[1:])
	if ev == nil {
		return "    " + s.describe(nil)
	}
	told(s.machine.phase, ev)
	return "    " + s.describe(s.machine.step(ev, s.now))
}

func (s *story) event(verb string, args []string) event {
	number := func(i int) uint64 {
		n, err := strconv.ParseUint(args[i], 10, 64)
		require.NoError(s.t, err)
		return n
	}
	switch verb {
	case "role":
		s.machine.set.role = args[0]
	case "oldest":
		s.machine.set.anchor = anchor{kind: byAge}
	case "onnode":
		s.machine.set.anchor = anchor{kind: byName, node: args[0]}
	case "signature":
		s.machine.set.signature = args[0]
	case "leased":
		s.machine.set.lease = someLease{}
	case "sourced":
		s.machine.set.source = someSource{}
	case "held":
		return leaseAnswered{number: number(0), held: true, token: number(1)}
	case "refused":
		return leaseAnswered{number: number(0)}
	case "unknown":
		return leaseAnswered{number: number(0), err: errors.New("no answer")}
	case "lost":
		return leaseLost{errors.New("gone")}
	case "released":
		return leaseReleased{}
	case "claimed":
		return claimed{number: number(0), term: number(1)}
	case "unclaimed":
		return claimed{number: number(0), err: errors.New("no answer")}
	case "finished":
		return instanceEnded{finished: true}
	case "shut":
		return instanceEnded{leaseLost: true}
	case "view":
		return viewed{s.topology(args)}
	case "request":
		return requested{from: peerID(args[0]), attempt: number(1), term: number(2)}
	case "grant":
		g := granted{from: peerID(args[0]), attempt: number(1), taken: number(2)}
		g.record = Record{Term: number(2), Fenced: slices.Contains(args, "fenced"), Finished: slices.Contains(args, "finished")}
		return g
	case "ended":
		return instanceEnded{fenced: len(args) > 0}
	case "fence":
		return fenceHeld{gen: s.machine.born, raised: s.machine.gen}
	case "raise":
		return fenceHeld{gen: s.machine.born, raised: Generation{Term: number(0), Seq: number(1)}}
	case "drain":
		return drainAsked{}
	case "after":
		d, err := time.ParseDuration(args[0])
		require.NoError(s.t, err)
		s.now = s.now.Add(d)
		return ticked{}
	default:
		s.t.Fatalf("unknown verb %q", verb)
	}
	return nil
}

// topology reads members as "@a", "b/joining", "c2/leaving", and what else is known as
// "down", "margin=13s", "term=5", "fenced".
func (s *story) topology(words []string) Topology {
	topo := Topology{Margin: 13 * time.Second}
	record := Record{}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "down":
			topo.Down = true
		case "fenced":
			record.Fenced = true
		case "finished":
			record.Finished = true
		case "term":
			record.Term, _ = strconv.ParseUint(value, 10, 64)
		default:
			s.member(&topo, w)
		}
	}
	topo.record = record
	return topo
}

func (s *story) member(topo *Topology, word string) {
	name, state, _ := strings.Cut(word, "/")
	id := peerID(strings.TrimPrefix(name, "@"))
	p := Peer{ID: id, Name: id.Address, Up: true, Reachable: true, offered: "x", Roles: []string{"worker"}}
	if strings.HasPrefix(name, "@") {
		topo.Self = id
	}
	gone := false
	for _, flag := range strings.FieldsFunc(state, func(r rune) bool { return r == '/' }) {
		key, value, _ := strings.Cut(flag, ":")
		switch key {
		case "up": // the number that says how old it is
			p.UpNumber, _ = strconv.ParseUint(value, 10, 64)
		case "is": // the signature of its manager
			p.offered = offer("x", value)
		case "joining":
			p.Up = false
		case "leaving":
			p.Up = false
		case "mute":
			p.offered = ""
		case "idler":
			p.Roles = nil
		case "gone":
			gone = true
		default:
			s.t.Fatalf("unknown state %q", flag)
		}
	}
	if gone {
		topo.Gone = append(topo.Gone, Gone{Peer: p, Since: s.start})
	} else {
		topo.Members = append(topo.Members, p)
	}
}

// peerID reads "a" or "a2": an address and an incarnation, 1 when there is none.
func peerID(s string) node.ID {
	n, err := strconv.ParseUint(s[1:], 10, 64)
	if err != nil {
		n = 1
	}
	return node.ID{Address: s[:1], Incarnation: n}
}

func short(id node.ID) string {
	if id.Incarnation == 1 {
		return id.Address
	}
	return fmt.Sprint(id.Address, id.Incarnation)
}

func (s *story) describe(actions []action) string {
	parts := []string{string(s.machine.phase)}
	for _, a := range actions {
		parts = append(parts, describe(a))
	}
	if at := s.machine.wake(); !at.IsZero() {
		parts = append(parts, fmt.Sprintf("(wake at %v)", at.Sub(s.start)))
	}
	return strings.Join(parts, "; ")
}

func describe(a action) string {
	switch a := a.(type) {
	case sendRequest:
		return fmt.Sprintf("ask %s #%d for term %d", short(a.to), a.attempt, a.term)
	case sendGrant:
		return fmt.Sprintf("grant %s #%d, %d taken", short(a.to), a.attempt, a.taken)
	case sendHeldUp:
		return fmt.Sprintf("hold up %s #%d for %v", short(a.to), a.attempt, a.until.Sub(a.since))
	case reportStuck:
		return fmt.Sprintf("stuck for %v", a.until.Sub(a.since))
	case startInstance:
		return "start " + a.gen.String()
	case stopInstance:
		if a.now {
			return "stop now"
		}
		return "stop"
	case saveRecord:
		text := fmt.Sprintf("save %d", a.record.Term)
		if a.record.Fenced {
			text += ", fenced"
		}
		if a.record.Finished {
			text += ", finished"
		}
		return text
	case acquireLease:
		return fmt.Sprintf("acquire #%d above %d", a.number, a.floor)
	case releaseLease:
		return "release"
	case claimTerm:
		return fmt.Sprintf("claim #%d above %d", a.number, a.floor)
	}
	return ""
}

func TestNobodyIsAskedTwiceAtOnce(t *testing.T) {
	s := newStory(t)
	s.run("view @a b c", func(Phase, event) {})
	for range 3 {
		actions := s.machine.step(ticked{}, s.now)
		require.False(t, slices.ContainsFunc(actions, func(a action) bool { _, ask := a.(sendRequest); return ask }))
	}
}

// Terms end where packed generations do: others refuse what is above.
func TestTermsDoNotOverflow(t *testing.T) {
	none := func(Phase, event) {}
	for _, each := range []struct {
		story []string
		want  string
	}{
		{[]string{"view @a b", "grant b 1 4294967296"}, "asking; (wake at 100ms)"},
		{[]string{"view @a b", "grant b 1 18446744073709551615"}, "asking; (wake at 100ms)"},
		{[]string{"view b @a", "request b 1 4294967296"}, "standby"},
		{[]string{"view @a b term=4294967295"}, "pending"},
		{[]string{"view @a term=4294967294"}, "host; save 4294967295; start 4294967295.1"},
		{[]string{"sourced", "view @a", "claimed 1 4294967296"}, "acquiring; (wake at 100ms)"},
		{[]string{"leased", "view @a", "held 1 4294967296"}, "acquiring; release"},
	} {
		s, got := newStory(t), ""
		for _, line := range each.story {
			got = strings.TrimSpace(s.run(line, none))
		}
		require.Equal(t, each.want, got, each.story)
	}
}
