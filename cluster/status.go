package cluster

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/membership"
	"github.com/understudy-go/understudy/internal/singletonhook"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/singleton"
)

// A HandlerOption changes what [Node.Handler] serves.
type HandlerOption func(*handlerSettings)

type handlerSettings struct{ authorize func(*http.Request) error }

// AllowActions lets those whom authorize returns no error for change the cluster:
//
//	POST actions/down?member=NAME   as Node.Down does
//	POST actions/found-without?address=HOST:PORT   as Node.FoundWithout does; one address or more
//	POST actions/leave              begins what Node.Leave does, but for closing the ports
//
// All answer 202 at once. A request must carry the header Understudy-Action, with any
// value, and must not come from the page of another origin; else, and with the error of
// authorize as the text, the answer is 403. The option panics when authorize is nil.
func AllowActions(authorize func(*http.Request) error) HandlerOption {
	if authorize == nil {
		panic("cluster: AllowActions needs a function that says who may change the cluster")
	}
	return func(s *handlerSettings) { s.authorize = authorize }
}

// Handler returns a status page for people and probes: how the cluster looks from this
// node. Mount it where only those who may see it can reach it, under a path that ends in
// a slash:
//
//	mux.Handle("/cluster/", http.StripPrefix("/cluster", node.Handler()))
//
// It serves, relative to there,
//
//	/         a page that draws members, links, leader and singletons, live
//	/status   the same as JSON
//	/events   the same as server-sent events: now, and whenever something has changed
//	/metrics  numbers of members and singletons, in the text format of Prometheus
//	/livez    200 unless the node has ended
//	/readyz   200 while the node is up, and the members agree or somebody is unreachable
//
// and changes nothing, unless [AllowActions] is given. It may be used before and after the
// node's end, by any number of servers; streams end with the node, and when their http.Server shuts down.
func (n *Node) Handler(opts ...HandlerOption) http.Handler {
	var set handlerSettings
	for _, o := range opts {
		o(&set)
	}
	if set.authorize == nil {
		return statuspage.New((*statusSource)(n), nil)
	}
	return statuspage.New((*statusSource)(n), &statuspage.Actions{
		Authorize:    set.authorize,
		Down:         n.Down,
		FoundWithout: func(addresses []string) error { return n.FoundWithout(addresses...) },
		Leave:        func() { go n.leaveAlone() },
	})
}

// statusSource is a node as a status page shows it.
type statusSource Node

var _ statuspage.Source = (*statusSource)(nil)

// Refresh implements [statuspage.Source].
func (n *statusSource) Refresh(ctx context.Context) { (*Node)(n).askForFigures(ctx) }

// Snapshot implements [statuspage.Source].
func (n *statusSource) Snapshot() (statuspage.Snapshot, <-chan struct{}) {
	v, changed, ended := n.views.read()
	if ended {
		changed = nil
	}
	s := snapshotOf(v)
	s.Cluster, s.Time = n.cfg.Name, time.Now()
	s.Settings, s.Expected = n.cfg.shown()
	told := n.figures.read()
	told[v.Self.ID()] = (*Node)(n).ownFigures()
	s.Singletons = completeByHosts(shownSingletons(v, singleton.Statuses(n.System), singletonhook.AllKnown(n.System)), told)
	s.Unanswered = silentMembers(v, told)
	for _, each := range told {
		s.FiguresLeftOut += each.LeftOut
	}
	s.Waiting = list((*Node)(n).waiting(v, ended))
	s.Absent = list(membership.Absent(v))
	s.Live, s.Ready = checksOf(v, ended)
	return s, changed
}

// snapshotOf returns what a status page shows of v itself.
func snapshotOf(v View) statuspage.Snapshot {
	s := statuspage.Snapshot{
		Version:   v.Version,
		Self:      shownMember(v, v.Self),
		Converged: v.Converged,
		Members:   []statuspage.Member{},
	}
	if leader, ok := v.Leader(); ok {
		s.Leader = leader.ID().String()
	}
	for _, m := range v.Members {
		s.Members = append(s.Members, shownMember(v, m))
	}
	return s
}

func shownMember(v View, m Member) statuspage.Member {
	s := statuspage.Member{
		ID:            m.ID().String(),
		Name:          m.Name,
		Address:       m.Address,
		Status:        m.Status.String(),
		Number:        m.UpNumber,
		Roles:         list(m.Roles),
		Meta:          m.Meta,
		Reachable:     v.Reachable(m),
		UnreachableBy: []string{},
	}
	if s.Meta == nil {
		s.Meta = map[string]string{}
	}
	for _, observer := range v.UnreachableBy(m) {
		s.UnreachableBy = append(s.UnreachableBy, observer.ID().String())
	}
	return s
}

// shown is what a status page shows of c.
func (c Config) shown() (statuspage.Settings, statuspage.Expected) {
	e := c.Expected()
	expected := statuspage.Expected{
		DetectionSeconds:      e.WorstDetection.Seconds(),
		UnfencedMarginSeconds: c.margin().Seconds(),
	}
	if e.FailoverFenced >= 0 {
		expected.FailoverSeconds = new(e.FailoverFenced.Seconds())
	}
	return statuspage.Settings{
		Seeds:                    list(c.Seeds),
		Downing:                  c.Downing.String(),
		Leader:                   c.Leader.Name,
		MinMembers:               c.MinMembers,
		StayDown:                 c.StayDown,
		HeartbeatIntervalSeconds: c.Detector.Interval.Seconds(),
		AcceptablePauseSeconds:   c.Detector.Pause.Seconds(),
		Threshold:                c.Detector.Threshold,
	}, expected
}

// list is s as JSON wants it: never null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// checksOf returns the conditions of being live and of being ready. Somebody who is unreachable
// does not make the others unready: they are who goes on. A node that is cut off is ready
// until it is down, as it cannot know before which side it is on.
func checksOf(v View, ended bool) (live, ready []statuspage.Check) {
	running := statuspage.Check{Name: "running", OK: !ended}
	if ended {
		running.Reason = "the node has ended"
	}
	up := statuspage.Check{Name: "membership", OK: v.Self.Status == Up && !ended}
	if !up.OK {
		up.Reason = "this node is " + statusInWords(v.Self.Status)
	}
	agreed := statuspage.Check{Name: "agreement", OK: v.Converged || len(v.Unreachable()) > 0}
	if !agreed.OK {
		agreed.Reason = "the members do not agree yet on who is a member"
	}
	return []statuspage.Check{running}, []statuspage.Check{up, agreed}
}

func statusInWords(s Status) string {
	if s == 0 {
		return "looking for a cluster"
	}
	return s.String()
}

// idAt returns the ID of the member at an address, for people; the address itself when
// there is none any more.
func idAt(v View, address string) string {
	i := slices.IndexFunc(v.Members, func(m Member) bool { return m.Address == address && m.Status < Down })
	if i < 0 {
		return address
	}
	return v.Members[i].ID().String()
}
