package home

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton"
)

const coreIncarnation = 77

// A coreWorld is the core of an agent, with the actors that it starts.
type coreWorld struct {
	t      *testing.T
	core   *Agent
	alive  map[string]RequestID // launched, and not ended
	halted map[RequestID]bool
	begun  map[RequestID]bool // has been told to have started
	starts map[RequestID][]string
	stops  map[RequestID][]string
	ends   map[RequestID]int
	report *Report // the last
}

func newCoreWorld(t *testing.T) *coreWorld {
	w := &coreWorld{
		t: t, core: NewAgent("n1"), alive: map[string]RequestID{}, halted: map[RequestID]bool{}, begun: map[RequestID]bool{},
		starts: map[RequestID][]string{}, stops: map[RequestID][]string{}, ends: map[RequestID]int{},
	}
	w.step(AgentMembership{coreIncarnation})
	return w
}

func (w *coreWorld) step(ev AgentEvent) {
	w.t.Helper()
	for _, a := range w.core.Step(ev) {
		switch a := a.(type) {
		case Launch:
			require.NotContains(w.t, w.alive, a.Request.Label, "two actors of one label")
			w.alive[a.Request.Label] = a.Request.ID
		case Halt:
			require.Equal(w.t, a.ID, w.alive[a.label], "what is halted must live")
			require.False(w.t, w.halted[a.ID], "halted twice")
			w.halted[a.ID] = true
		case Tell:
			require.Equal(w.t, "n1", a.Message.Node)
			require.Equal(w.t, w.core.incarnation, a.Message.Incarnation)
			w.hear(a.Message)
		}
	}
}

func (w *coreWorld) hear(m FromAgent) {
	switch {
	case m.StartAck != nil:
		w.starts[m.StartAck.ID] = append(w.starts[m.StartAck.ID], m.StartAck.Error)
	case m.StopAck != nil:
		w.stops[m.StopAck.ID] = append(w.stops[m.StopAck.ID], m.StopAck.Error)
	case m.Ended != nil:
		w.ends[m.Ended.ID]++
	case m.Report != nil:
		w.report = m.Report
	}
}

func (w *coreWorld) tell(epoch uint64, msg any) {
	w.t.Helper()
	switch m := msg.(type) {
	case StartRequest:
		m.Epoch = epoch
		msg = m
	case StopRequest:
		m.Epoch = epoch
		msg = m
	case ReportRequest:
		m.Epoch = epoch
		msg = m
	}
	w.step(AgentReceived{Send{Incarnation: coreIncarnation, Msg: msg}.Message(fromRef)})
}

var fromRef = ToAgent{}.ReplyTo // nobody's

func (w *coreWorld) begin(label string) {
	w.t.Helper()
	id := w.alive[label]
	require.False(w.t, id.IsZero(), "nothing lives at %q", label)
	w.begun[id] = true
	w.step(AgentStarted{label, id})
}

func (w *coreWorld) end(label, why string) {
	w.t.Helper()
	id := w.alive[label]
	require.False(w.t, id.IsZero(), "nothing lives at %q", label)
	delete(w.alive, label)
	w.step(AgentEnded{Label: label, ID: id, Why: why})
}

func id(n uint64) RequestID { return RequestID{Epoch: 1, N: n} }

func startOf(label string, n uint64) StartRequest { return StartRequest{ID: id(n), Label: label} }

func stopOf(label string, n uint64) StopRequest { return StopRequest{ID: id(n), Label: label} }

func TestAStartIsAcknowledgedOnceItRunsAndAgainWhenItIsAskedAgain(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.tell(1, startOf("a", 1))
	require.Empty(t, w.starts)
	w.begin("a")
	require.Equal(t, []string{""}, w.starts[id(1)])
	w.tell(1, startOf("a", 1))
	require.Equal(t, []string{"", ""}, w.starts[id(1)])
	require.Equal(t, map[string]RequestID{"a": id(1)}, w.alive)
}

func TestAStartThatHasFailedIsNotTriedAgainUnderTheSameID(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.end("a", "no disk")
	w.tell(1, startOf("a", 1))
	require.Equal(t, []string{"no disk", "no disk"}, w.starts[id(1)])
	require.Empty(t, w.alive)
	require.Zero(t, w.ends[id(1)], "a failed start is no end")

	w.tell(1, startOf("a", 2))
	require.Equal(t, map[string]RequestID{"a": id(2)}, w.alive)
}

func TestAnotherRequestForALabelWaitsForTheEndOfTheFirst(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.begin("a")
	w.tell(1, startOf("a", 2))
	require.True(t, w.halted[id(1)])
	require.Equal(t, id(1), w.alive["a"])
	w.end("a", "")
	require.Equal(t, id(2), w.alive["a"])
	require.Zero(t, w.ends[id(1)], "who asks for another knows")
	w.begin("a")
	require.Equal(t, []string{""}, w.starts[id(2)])

	w.tell(1, startOf("a", 1))
	require.Equal(t, []string{"", "request 1.2 has taken its place"}, w.starts[id(1)], "it comes late")
}

func TestAStopIsAcknowledgedAfterTheEnd(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.begin("a")
	w.tell(1, stopOf("a", 1))
	w.tell(1, stopOf("a", 1))
	require.Empty(t, w.stops)
	w.end("a", "")
	require.Equal(t, []string{""}, w.stops[id(1)])
	require.Zero(t, w.ends[id(1)])
	w.tell(1, stopOf("a", 1))
	require.Equal(t, []string{"", ""}, w.stops[id(1)])
	w.tell(1, startOf("a", 1))
	require.Empty(t, w.alive, "a start that is late changes nothing")
	require.Equal(t, []string{"", "it has been stopped"}, w.starts[id(1)])
}

func TestAStopOfWhatIsStartingAnswersBoth(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.tell(1, stopOf("a", 1))
	w.begin("a") // it was too late to keep it from that
	require.Empty(t, w.starts)
	w.end("a", "")
	require.Equal(t, []string{"it has been stopped"}, w.starts[id(1)])
	require.Equal(t, []string{""}, w.stops[id(1)])
}

func TestAStopThatComesBeforeItsStartPreventsIt(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, stopOf("a", 1))
	require.Equal(t, []string{""}, w.stops[id(1)])
	w.tell(1, startOf("a", 1))
	require.Empty(t, w.alive)
	require.Equal(t, []string{WhyStopped}, w.starts[id(1)])
}

func TestAStopOfWhatWaitsLetsTheOldOneEnd(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.begin("a")
	w.tell(1, startOf("a", 2))
	w.tell(1, stopOf("a", 2))
	require.Equal(t, []string{WhyStopped}, w.starts[id(2)])
	require.Equal(t, []string{""}, w.stops[id(2)])
	w.end("a", "")
	require.Empty(t, w.alive)
}

func TestAnEndIsSaidUntilItIsKnown(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.begin("a")
	w.end("a", "out of memory")
	require.Equal(t, 1, w.ends[id(1)])
	w.step(AgentTick{})
	w.step(AgentTick{})
	require.Equal(t, 3, w.ends[id(1)])
	w.tell(1, stopOf("a", 1))
	w.step(AgentTick{})
	require.Equal(t, 3, w.ends[id(1)])
	require.Equal(t, []string{""}, w.stops[id(1)])
	w.tell(1, startOf("a", 1))
	require.Equal(t, "out of memory", w.starts[id(1)][1])
}

func TestAnotherStartSaysThatTheEndIsKnown(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.begin("a")
	w.end("a", "")
	w.tell(1, startOf("a", 2))
	w.step(AgentTick{})
	require.Equal(t, 1, w.ends[id(1)])
}

func TestAStopOfAnEarlierGenerationIsRefused(t *testing.T) {
	w := newCoreWorld(t)
	start := startOf("a", 1)
	start.Generation = singleton.Generation{Term: 3, Seq: 0}
	w.tell(1, start)
	w.begin("a")
	stop := stopOf("a", 1)
	for _, earlier := range []singleton.Generation{{}, {Term: 2, Seq: 9}} {
		stop.Generation = earlier
		w.tell(1, stop)
		require.Len(t, w.stops[id(1)], 1)
		require.Contains(t, w.stops[id(1)][0], "it runs under generation 3.0, which is later")
		require.False(t, w.halted[id(1)])
		delete(w.stops, id(1))
	}
	stop.Generation = singleton.Generation{Term: 3, Seq: 2}
	w.tell(1, stop)
	require.True(t, w.halted[id(1)])
}

func TestAStartOfAnEarlierGenerationIsRefused(t *testing.T) {
	w := newCoreWorld(t)
	start := startOf("a", 1)
	start.Generation = singleton.Generation{Term: 3}
	w.tell(1, start)
	w.begin("a")
	late := startOf("a", 2)
	late.Generation = singleton.Generation{Term: 2, Seq: 5}
	w.tell(1, late)
	require.Len(t, w.starts[id(2)], 1)
	require.Contains(t, w.starts[id(2)][0], "later than 2.5")
	require.False(t, w.halted[id(1)])
}

func TestWhatIsOfAnEarlierEpochOrAnotherIncarnationIsNotTaken(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(2, ReportRequest{})
	require.Equal(t, &Report{Epoch: 2}, w.report)
	w.tell(1, startOf("a", 1))
	w.step(AgentReceived{Send{Incarnation: 78, Msg: StartRequest{ID: id(2), Label: "a", Epoch: 3}}.Message(fromRef)})
	w.step(AgentReceived{ToAgent{Incarnation: coreIncarnation}})
	require.Empty(t, w.alive)
	require.Equal(t, uint64(2), w.core.epoch)
}

func TestAReportTellsAllThatHasNotTerminated(t *testing.T) {
	w := newCoreWorld(t)
	for i, label := range []string{"d", "c", "b", "a"} {
		w.tell(1, startOf(label, uint64(i+1)))
	}
	w.begin("a")
	w.begin("b")
	w.tell(1, startOf("b", 9))
	w.tell(1, stopOf("d", 1))
	w.tell(2, ReportRequest{})
	require.Equal(t, &Report{Epoch: 2, Running: []Reported{
		{ID: id(4), Label: "a", Started: true},
		{ID: id(3), Label: "b", Started: true},
		{ID: id(9), Label: "b"},
		{ID: id(2), Label: "c"},
		{ID: id(1), Label: "d"},
	}}, w.report)
}

func TestWhatAnEarlierCoordinatorHasStoppedEndsForTheNextOne(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.begin("a")
	w.tell(1, stopOf("a", 1))
	w.tell(2, ReportRequest{}) // the coordinator believes that it runs
	w.end("a", "")
	require.Equal(t, 1, w.ends[id(1)])
	require.Empty(t, w.stops)
}

func TestLosingMembershipStopsEverythingWithoutAWord(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.begin("a")
	w.tell(1, startOf("b", 2))
	w.tell(1, startOf("c", 3))
	w.begin("c")
	w.tell(1, startOf("c", 4)) // waits, and never comes
	w.step(AgentMembership{0})
	require.Len(t, w.halted, 3)
	clear(w.starts)
	w.tell(1, startOf("d", 5))
	require.NotContains(t, w.alive, "d")
	w.end("a", "")
	w.end("b", "")
	w.end("c", "")
	w.step(AgentTick{})
	require.Empty(t, w.alive)
	require.Empty(t, w.starts)
	require.Empty(t, w.ends)

	w.step(AgentMembership{coreIncarnation})
	w.tell(1, startOf("a", 6))
	require.Equal(t, map[string]RequestID{"a": id(6)}, w.alive, "it is a member again")
}

func TestAnotherIncarnationReportsWhatIsStillEnding(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("a", 1))
	w.begin("a")
	w.step(AgentMembership{78})
	require.True(t, w.halted[id(1)])
	again := func(msg any) { w.step(AgentReceived{Send{Incarnation: 78, Msg: msg}.Message(fromRef)}) }
	again(ReportRequest{Epoch: 1})
	require.Equal(t, []Reported{{ID: id(1), Label: "a", Started: true}}, w.report.Running)
	again(StartRequest{ID: id(2), Label: "a", Epoch: 1})
	w.end("a", "")
	require.Equal(t, map[string]RequestID{"a": id(2)}, w.alive)
}

func TestAClosingAgentRefusesStartsAndAnswersStops(t *testing.T) {
	w := newCoreWorld(t)
	w.tell(1, startOf("runs", 1))
	w.begin("runs")
	w.tell(1, startOf("starts", 2))
	w.tell(1, startOf("waits", 3))
	w.tell(1, startOf("waits", 4))
	w.step(AgentClosing{})
	require.True(t, w.core.Busy())
	require.Equal(t, []string{WhyClosing}, w.starts[id(4)])
	w.tell(1, startOf("new", 5))
	require.Equal(t, []string{WhyClosing}, w.starts[id(5)])
	w.tell(1, stopOf("runs", 1))
	for label := range w.alive {
		w.end(label, "")
	}
	require.Equal(t, []string{""}, w.stops[id(1)])
	require.Equal(t, []string{WhyStopped}, w.starts[id(2)])
	require.False(t, w.core.Busy())
	require.Empty(t, w.ends)
}

func TestTheMemoryOfAnAgentIsBounded(t *testing.T) {
	w := newCoreWorld(t)
	for n := range uint64(2 * maxTombstones) {
		label := fmt.Sprint("spec-", n)
		w.tell(1, startOf(label, n+1))
		w.begin(label)
		w.tell(1, stopOf(label, n+1))
		w.end(label, "")
	}
	require.Len(t, w.core.slots, maxTombstones)
	require.Len(t, w.core.tombstones, maxTombstones)
}

// Requests arrive, and actors start and end, in any order. Each start and each stop has one answer,
// at most one actor of a label lives, and in the end the last requested actor runs.
func TestEachRequestHasOneAnswerInAnyOrder(t *testing.T) {
	for seed := range uint64(2000) {
		randomRequests(t, seed)
	}
}

// An expectation is the actor that must run in the end, if it does not fail.
type expectation struct{ wanted, heard map[string]RequestID }

func (e expectation) hear(w *coreWorld, msg any) {
	switch r := msg.(type) {
	case StartRequest:
		if e.heard[r.Label].less(r.ID) {
			e.wanted[r.Label], e.heard[r.Label] = r.ID, r.ID
		}
	case StopRequest:
		if e.heard[r.Label].less(r.ID) {
			e.heard[r.Label] = r.ID
			if w.alive[r.Label] != e.wanted[r.Label] { // it waits, and is given up
				e.wanted[r.Label] = RequestID{}
			}
		}
	}
}

func randomRequests(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // a schedule, not a secret
	w := newCoreWorld(t)
	var todo []any
	stopped, failed := map[RequestID]bool{}, map[RequestID]bool{}
	labels := []string{"a", "b", "c"}
	for n := range uint64(12) {
		label := labels[rng.IntN(len(labels))]
		todo = append(todo, startOf(label, n+1))
		if rng.IntN(2) == 0 {
			todo = append(todo, stopOf(label, n+1))
			stopped[id(n+1)] = true
		}
	}
	for range rng.IntN(8) { // not far from their order
		i := rng.IntN(len(todo) - 1)
		todo[i], todo[i+1] = todo[i+1], todo[i]
	}
	expect := expectation{wanted: map[string]RequestID{}, heard: map[string]RequestID{}}
	for len(todo) > 0 || len(w.halted) > 0 {
		switch label := labels[rng.IntN(len(labels))]; {
		case len(todo) > 0 && rng.IntN(2) == 0:
			expect.hear(w, todo[0])
			w.tell(1, todo[0])
			todo = todo[1:]
		case w.alive[label].IsZero():
		case w.halted[w.alive[label]]:
			delete(w.halted, w.alive[label])
			w.end(label, "")
		case rng.IntN(8) == 0:
			failed[w.alive[label]] = true
			w.end(label, "failed")
		default:
			w.begin(label)
		}
	}
	for _, label := range labels {
		if !w.alive[label].IsZero() {
			w.begin(label)
		}
	}
	for n := range uint64(12) {
		require.Len(t, w.starts[id(n+1)], 1, "seed %d: request %d", seed, n+1)
		if stopped[id(n+1)] {
			require.Equal(t, []string{""}, w.stops[id(n+1)], "seed %d: request %d", seed, n+1)
		}
	}
	for label, want := range expect.wanted {
		if stopped[want] || failed[want] {
			want = RequestID{}
		}
		require.Equal(t, want, w.alive[label], "seed %d: %s", seed, label)
	}
}
