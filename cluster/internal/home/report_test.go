package home

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/singleton"
)

// longLabel returns one of the longest labels; they are in the order of n.
func longLabel(n int) string {
	return fmt.Sprintf("%06d/", n) + strings.Repeat("x", naming.MaxLength-7)
}

// parts asks for a report until there is no more, and returns what has come.
func (w *coreWorld) parts(epoch uint64) (all []Report) {
	for after := ""; ; after = w.report.last() {
		w.tell(epoch, ReportRequest{After: after})
		all = append(all, *w.report)
		if !w.report.More {
			return all
		}
	}
}

func TestReportsOfAnySizeComeInPartsThatFit(t *testing.T) {
	const count = 20_000
	const huge = 1 << 63
	core := NewAgent("n1")
	core.Step(AgentMembership{1})
	told := func(msg any) []AgentAction {
		return core.Step(AgentReceived{Send{Incarnation: 1, Msg: msg}.Message(fromRef)})
	}
	for i := range count {
		told(StartRequest{ID: RequestID{Epoch: huge, N: huge + uint64(i)}, Label: longLabel(i), Generation: singleton.Generation{Term: huge, Seq: huge}, Epoch: huge})
	}
	part, n := Report{More: true}, 0
	for part.More {
		all := told(ReportRequest{Epoch: huge, After: part.last()})
		require.Len(t, all, 1)
		msg := all[0].(Tell).Message
		part = *msg.Report
		for _, each := range part.Running {
			require.Equal(t, longLabel(n), each.Label)
			n++
		}
		p, err := extension.Pack(msg)
		require.NoError(t, err)
		require.Less(t, len(p.Data), maxPart)
	}
	require.Equal(t, count, n)
}

func TestAPartOfAReportTellsAllOfItsLabels(t *testing.T) {
	w := newCoreWorld(t)
	w.core.MaxReport = 1
	for i, label := range []string{"a", "b", "c"} {
		w.tell(1, startOf(label, uint64(i+1)))
		w.begin(label)
	}
	w.tell(1, startOf("b", 9)) // waits for the end of the one before
	running := func(n uint64, label string) Reported { return Reported{ID: id(n), Label: label, Started: true} }
	require.Equal(t, []Report{
		{Epoch: 2, Running: []Reported{running(1, "a")}, More: true},
		{Epoch: 2, After: "a", Running: []Reported{running(2, "b"), {ID: id(9), Label: "b"}}, More: true},
		{Epoch: 2, After: "b", Running: []Reported{running(3, "c")}},
	}, w.parts(2))
	w.tell(2, ReportRequest{After: "c"})
	require.Equal(t, &Report{Epoch: 2, After: "c"}, w.report)
}

// A partsRig has the nodes of a coordinator that has just begun, and knows of the actors a to d on
// node n. It is told what the test says.
type partsRig struct {
	t     *testing.T
	nodes *Nodes
	now   time.Time
}

const ackTimeout = 5 * time.Second

// onN is the only node.
var onN = NodeID{Name: "n", Incarnation: 1}

func newPartsRig(t *testing.T, epoch uint64) *partsRig {
	r := &partsRig{t, New(Config{Epoch: epoch, AckTimeout: ackTimeout}), time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
	require.Empty(t, r.asked(func() {
		for i, label := range []string{"a", "b", "c", "d"} {
			r.nodes.Start(onN, StartRequest{ID: id(uint64(i + 1)), Label: label})
		}
	}))
	require.Equal(t, []string{`report after ""`}, r.asked(func() {
		r.nodes.update([]Node{{Name: "n", Incarnation: 1, Up: true, Reachable: true}}, nil)
	}))
	return r
}

// asked returns what the agent is told because of an input.
func (r *partsRig) asked(in func()) (all []string) {
	r.nodes.advance(r.now)
	in()
	r.nodes.finish()
	for _, e := range r.nodes.Take() {
		s, _ := e.(Send)
		switch m := s.Msg.(type) {
		case ReportRequest:
			all = append(all, fmt.Sprintf("report after %q", m.After))
		case StartRequest:
			all = append(all, "start "+m.Label)
		case StopRequest:
			all = append(all, "stop "+m.Label)
		}
	}
	return all
}

// later returns what the agent is told when d has passed.
func (r *partsRig) later(d time.Duration) []string {
	r.now = r.now.Add(d)
	return r.asked(func() {})
}

// hears tells it a part of a report: what runs after a label, by request id.
func (r *partsRig) hears(after string, more bool, running ...uint64) []string {
	rep := Report{Epoch: r.nodes.cfg.Epoch, After: after, More: more}
	for _, n := range running {
		rep.Running = append(rep.Running, Reported{ID: id(n), Label: string(rune('a' + n - 1)), Started: true})
	}
	return r.says(rep)
}

func (r *partsRig) says(rep Report) []string {
	return r.asked(func() { r.nodes.receive(FromAgent{Node: "n", Incarnation: 1, Report: &rep}) })
}

func (r *partsRig) ready() bool {
	n, _ := r.nodes.View().Node("n")
	return n.Ready
}

func TestAReportInPartsIsReadToItsEnd(t *testing.T) {
	r := newPartsRig(t, 2)
	require.Equal(t, []string{`report after "a"`}, r.hears("", true, 1))
	require.False(t, r.ready())
	require.Equal(t, []string{`report after "c"`, "start b"}, r.hears("a", true, 3), "b should have been in it")
	require.False(t, r.ready())
	require.Empty(t, r.hears("c", false, 4))
	require.True(t, r.ready())
	for label, phase := range map[string]Phase{"a": Running, "b": Starting, "c": Running, "d": Running} {
		p, ok := r.nodes.Place(onN, label)
		require.True(t, ok)
		require.Equal(t, phase, p.Phase, label)
	}
}

func TestNothingIsAskedOfLabelsThatANodeHasNotToldOf(t *testing.T) {
	r := newPartsRig(t, 2)
	require.Equal(t, []string{`report after "b"`, "start a"}, r.hears("", true, 2))
	require.Equal(t, []string{"start a", `report after "b"`}, r.later(ackTimeout), "c and d may run")
	require.Equal(t, []string{"start c", "start d"}, r.hears("b", false))
}

func TestAPartThatIsLostIsAskedForAgain(t *testing.T) {
	r := newPartsRig(t, 2)
	r.hears("", true, 1, 2)
	require.Equal(t, []string{`report after "b"`}, r.later(ackTimeout))
	require.Equal(t, []string{`report after "b"`}, r.later(2*ackTimeout))
	require.Equal(t, []string{`report after "c"`}, r.hears("b", true, 3))
	require.Equal(t, []string{`report after "c"`}, r.later(ackTimeout), "the node answers, so it is asked as often as before")
	require.Empty(t, r.hears("c", false, 4))
	require.True(t, r.ready())
}

func TestPartsThatComeTwiceOrLateLeadToNothingNew(t *testing.T) {
	r := newPartsRig(t, 2)
	r.hears("", true, 1, 2)
	require.Empty(t, r.hears("", true, 1, 2))
	require.Empty(t, r.hears("c", false, 4), "what is before it has not been told")
	require.False(t, r.ready())
	r.hears("b", true, 3)
	require.Empty(t, r.hears("b", true, 3))
	require.Empty(t, r.hears("c", false, 4))
	require.True(t, r.ready())
	require.Empty(t, r.hears("", true, 1, 2))
	require.Empty(t, r.hears("c", false, 4))
	_, asks := r.nodes.reportsDue.First()
	require.False(t, asks)
}

func TestAReportThatIsAskedForAnewIsReadFromItsBeginning(t *testing.T) {
	r := newPartsRig(t, 2)
	r.hears("", true, 1, 2)
	r.nodes.RequestFullReport(onN)
	require.Equal(t, []string{`report after ""`}, r.later(0))
	require.Empty(t, r.hears("b", false, 3, 4), "that of the former report")
	require.False(t, r.ready())
	require.Equal(t, []string{`report after "b"`}, r.hears("", true, 1, 2))
	require.Empty(t, r.hears("b", false, 3, 4))
	require.True(t, r.ready())
}

func TestTheNextCoordinatorReadsReportsFromTheirBeginning(t *testing.T) {
	r := newPartsRig(t, 2)
	r.hears("", true, 1, 2)
	last := Report{Epoch: 2, After: "b", Running: []Reported{{ID: id(3), Label: "c", Started: true}, {ID: id(4), Label: "d", Started: true}}}
	r = newPartsRig(t, 3)
	require.Equal(t, []string{`report after ""`}, r.says(last), "what the former one was told counts for nothing")
	require.False(t, r.ready())
	require.Equal(t, []string{`report after "b"`}, r.hears("", true, 1, 2))
	require.Equal(t, []string{`report after "b"`}, r.says(last))
	require.False(t, r.ready())
	require.Empty(t, r.hears("b", false, 3, 4))
	require.True(t, r.ready())
}

// What is found in a part is an orphan, wherever in the order of labels it is.
func TestStraysAreFoundInAnyPart(t *testing.T) {
	r := newPartsRig(t, 2)
	orphan := func(n uint64, label string) Reported { return Reported{ID: id(n), Label: label, Started: true} }
	r.says(Report{Epoch: 2, Running: []Reported{orphan(1, "a"), orphan(8, "aa")}, More: true})
	r.hears("aa", true, 2, 3)
	r.says(Report{Epoch: 2, After: "c", Running: []Reported{orphan(4, "d"), orphan(9, "e")}})
	require.True(t, r.ready())
	n, _ := r.nodes.View().Node("n")
	require.Equal(t, []string{"a", "aa", "b", "c", "d", "e"}, n.Actors)
}
