package handover

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
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/remote"
)

var update = flag.Bool("update", false, "write what the machine does into testdata/machine")

// The stories in testdata/machine list events, a line each, with the actions of a machine below it.
// Members are written in the order of election: "@" before the name marks the node itself, "/"
// after it a state, and a number is an incarnation. The name is also the name of the node.
func TestTheMachineDoesWhatTheStoriesSay(t *testing.T) {
	files, err := filepath.Glob("testdata/machine/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := tell(t, string(text), func(Phase, Event) {})
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
		tell(t, string(text), func(p Phase, ev Event) { told[fmt.Sprintf("%s: %s", p, kindOf(ev))] = true })
	}
	for _, p := range []Phase{Pending, Standby, Asking, Acquiring, Host, HandingOver, Stopping, Ended} {
		for _, ev := range []Event{
			Viewed{},
			Received{wire.Message[wire.Request]{}},
			Received{wire.Message[wire.Grant]{}},
			InstanceEnded{},
			FenceHeld{},
			DrainAsked{},
			Ticked{},
			LeaseAnswered{},
			LeaseLost{},
			LeaseReleased{},
			TermClaimed{},
		} {
			pair := fmt.Sprintf("%s: %s", p, kindOf(ev))
			require.True(t, told[pair], "no story tells %s", pair)
		}
	}
}

// kindOf returns the type of an event, or of the message that it brings.
func kindOf(ev Event) string {
	if r, ok := ev.(Received); ok {
		return fmt.Sprintf("%T", r.Message)
	}
	return fmt.Sprintf("%T", ev)
}

// tell runs the stories of a file and returns it with what the machines do now.
func tell(t *testing.T, text string, told func(Phase, Event)) string {
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

func testConfig() Config {
	return Config{
		Name: "x", StopTimeout: 10 * time.Second, LeaseRetry: 5 * time.Second,
		Restart: actor.Backoff{Min: 100 * time.Millisecond, Max: 4 * time.Second, Jitter: 0.2},
	}
}

type story struct {
	t       *testing.T
	machine *Machine
	start   time.Time
	now     time.Time
}

func newStory(t *testing.T) *story {
	cfg := testConfig()
	cfg.Restart = actor.Backoff{Min: 100 * time.Millisecond, Max: time.Second}
	start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	return &story{t: t, machine: NewMachine(cfg), start: start, now: start}
}

// run does one line and describes what came of it.
func (s *story) run(line string, told func(Phase, Event)) string {
	words := strings.Fields(line)
	ev := s.event(words[0], words[1:])
	if ev == nil {
		return "    " + s.describe(nil)
	}
	told(s.machine.phase, ev)
	return "    " + s.describe(s.machine.Step(ev, s.now))
}

func (s *story) event(verb string, args []string) Event {
	number := func(i int) uint64 {
		n, err := strconv.ParseUint(args[i], 10, 64)
		require.NoError(s.t, err)
		return n
	}
	switch verb {
	case "role":
		s.machine.cfg.Role = args[0]
	case "oldest":
		s.machine.cfg.Anchor = Anchor{Kind: ByAge}
	case "onnode":
		s.machine.cfg.Anchor = Anchor{Kind: ByName, Node: args[0]}
	case "signature":
		s.machine.cfg.Signature = args[0]
	case "leased":
		s.machine.cfg.Leased = true
	case "sourced":
		s.machine.cfg.Sourced = true
	case "held":
		return LeaseAnswered{Number: number(0), Held: true, Token: number(1)}
	case "refused":
		return LeaseAnswered{Number: number(0)}
	case "unknown":
		return LeaseAnswered{Number: number(0), Err: errors.New("no answer")}
	case "lost":
		return LeaseLost{errors.New("gone")}
	case "released":
		return LeaseReleased{}
	case "claimed":
		return TermClaimed{Number: number(0), Term: number(1)}
	case "unclaimed":
		return TermClaimed{Number: number(0), Err: errors.New("no answer")}
	case "finished":
		return InstanceEnded{Finished: true}
	case "shut":
		return InstanceEnded{LeaseLost: true}
	case "view":
		return Viewed{s.topology(args)}
	case "request":
		return Received{wire.New(wire.Header{From: peerID(args[0])}, wire.Request{Attempt: number(1), Term: number(2)})}
	case "grant":
		record := wire.Record{Term: number(2), Fenced: slices.Contains(args, "fenced"), Finished: slices.Contains(args, "finished")}
		return Received{wire.New(wire.Header{From: peerID(args[0])}, wire.Grant{Attempt: number(1), Record: record, Taken: number(2)})}
	case "ended":
		return InstanceEnded{Fenced: len(args) > 0}
	case "fence":
		return FenceHeld{Started: s.machine.instance.born, Raised: s.machine.instance.Generation}
	case "raise":
		return FenceHeld{Started: s.machine.instance.born, Raised: tenure.Generation{Term: number(0), Seq: number(1)}}
	case "drain":
		return DrainAsked{}
	case "after":
		d, err := time.ParseDuration(args[0])
		require.NoError(s.t, err)
		s.now = s.now.Add(d)
		return Ticked{}
	default:
		s.t.Fatalf("unknown verb %q", verb)
	}
	return nil
}

// topology reads members as "@a", "b/joining", "c2/leaving", and what else is known as
// "down", "margin=13s", "term=5", "fenced", "fenced=2" for the sequence number of the term.
func (s *story) topology(words []string) directory.Topology {
	topo := directory.Topology{Margin: 13 * time.Second}
	record := wire.Record{}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "down":
			topo.Down = true
		case "fenced":
			record.Fenced = true
			if value != "" {
				seq, err := strconv.ParseUint(value, 10, 64)
				require.NoError(s.t, err)
				record.Seq = seq
			}
		case "finished":
			record.Finished = true
		case "term":
			record.Term, _ = strconv.ParseUint(value, 10, 64)
		default:
			s.member(&topo, w)
		}
	}
	topo.Record = record
	return topo
}

func (s *story) member(topo *directory.Topology, word string) {
	name, state, _ := strings.Cut(word, "/")
	id := peerID(strings.TrimPrefix(name, "@"))
	p := directory.Peer{ID: id, Name: id.Address, Up: true, Reachable: true, Advertisement: "x", Roles: []string{"worker"}}
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
			p.Advertisement = directory.Advertise("x", value)
		case "joining":
			p.Up = false
		case "leaving":
			p.Up = false
		case "mute":
			p.Advertisement = ""
		case "idler":
			p.Roles = nil
		case "gone":
			gone = true
		default:
			s.t.Fatalf("unknown state %q", flag)
		}
	}
	if gone {
		topo.Gone = append(topo.Gone, directory.Gone{Peer: p, Since: s.start})
	} else {
		topo.Members = append(topo.Members, p)
	}
}

// peerID reads "a" or "a2": an address and an incarnation, 1 by default.
func peerID(s string) remote.NodeID {
	n, err := strconv.ParseUint(s[1:], 10, 64)
	if err != nil {
		n = 1
	}
	return remote.NodeID{Address: s[:1], Incarnation: n}
}

func short(id remote.NodeID) string {
	if id.Incarnation == 1 {
		return id.Address
	}
	return fmt.Sprint(id.Address, id.Incarnation)
}

func (s *story) describe(actions []Action) string {
	parts := []string{string(s.machine.phase)}
	for _, a := range actions {
		parts = append(parts, describe(a))
	}
	if at := s.machine.Wake(); !at.IsZero() {
		parts = append(parts, fmt.Sprintf("(wake at %v)", at.Sub(s.start)))
	}
	return strings.Join(parts, "; ")
}

func describe(a Action) string {
	switch a := a.(type) {
	case Send:
		return describeMessage(a.Message)
	case ReportStuck:
		return fmt.Sprintf("stuck for %v", a.Until.Sub(a.Since))
	case StartInstance:
		return "start " + a.Generation.String()
	case StopInstance:
		if a.AtOnce {
			return "stop now"
		}
		return "stop"
	case SaveRecord:
		text := fmt.Sprintf("save %d", a.Record.Term)
		if a.Record.Fenced {
			text += ", fenced"
		}
		if a.Record.Finished {
			text += ", finished"
		}
		return text
	case AcquireLease:
		return fmt.Sprintf("acquire #%d above %d", a.Number, a.Floor)
	case ReleaseLease:
		return "release"
	case ClaimTerm:
		return fmt.Sprintf("claim #%d above %d", a.Number, a.Floor)
	}
	return ""
}

func describeMessage(msg wire.Any) string {
	to := short(msg.Head().To)
	switch msg := msg.(type) {
	case wire.Message[wire.Request]:
		return fmt.Sprintf("ask %s #%d for term %d", to, msg.Body.Attempt, msg.Body.Term)
	case wire.Message[wire.Grant]:
		return fmt.Sprintf("grant %s #%d, %d taken", to, msg.Body.Attempt, msg.Body.Taken)
	case wire.Message[wire.HeldUp]:
		return fmt.Sprintf("hold up %s #%d for %v", to, msg.Body.Attempt, msg.Body.Since+msg.Body.Until)
	}
	return ""
}

func TestNobodyIsAskedTwiceAtOnce(t *testing.T) {
	s := newStory(t)
	s.run("view @a b c", func(Phase, Event) {})
	for range 3 {
		actions := s.machine.Step(Ticked{}, s.now)
		require.False(t, slices.ContainsFunc(actions, func(a Action) bool {
			send, sends := a.(Send)
			return sends && strings.HasPrefix(describe(send), "ask")
		}))
	}
}

// Terms end where packed generations do: others refuse what is above.
func TestTermsDoNotOverflow(t *testing.T) {
	none := func(Phase, Event) {}
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
