package cluster

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/options"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/singleton"
)

// A HandlerOption changes what [Node.Handler] serves.
type HandlerOption func(*handlerSettings)

type handlerSettings struct {
	authorize func(*http.Request) error
	metrics   http.Handler
	showsTo   func(*http.Request) error // nil: nobody
	hides     func(of reflect.Type, field reflect.StructField) bool
}

// WithMetrics serves the metrics of the node with h, under the path /metrics. h is usually the
// Handler of the module actor/telemetry/prometheus for node.System. It panics if h is nil.
func WithMetrics(h http.Handler) HandlerOption {
	if h == nil {
		panic("cluster: WithMetrics: the handler is nil; pass prometheus.Handler(node.System) of the module actor/telemetry/prometheus")
	}
	return func(s *handlerSettings) { s.metrics = h }
}

// AllowActions allows requests to change the cluster if authorize returns nil for them:
//
//	POST actions/down?member=NAME   like Node.Down
//	POST actions/found-without?address=HOST:PORT   like Node.FoundWithout; one address or more
//	POST actions/leave              begins Node.Leave
//	POST actions/resend?number=N    like singleton.Resend
//	POST actions/discard?number=N   like singleton.Discard
//	POST actions/resend?number=dN   sends the message of a dead letter to its recipient again
//	POST actions/discard?number=dN  forgets it, see Config.KeepDeadLetters
//	POST actions/retry?projection=NAME   lets a projection on this node try again what it holds back
//
// They answer 202 without waiting for the effect. For a dead letter that is sent again, the answer
// says as JSON what is known of it within 100 ms, and for a projection within 2 s. Errors are 400
// without a parameter, 404 for an unknown member, number or projection, and 409 for addresses that
// FoundWithout refuses. A request must carry the header Understudy-Action, with any value, and must
// not come from a page of another origin; otherwise the answer is 403. If authorize returns an
// error, the answer is 403 with its text. AllowActions panics if authorize is nil.
func AllowActions(authorize func(*http.Request) error) HandlerOption {
	if authorize == nil {
		panic("cluster: AllowActions: authorize is nil; pass a function that decides which requests may change the cluster")
	}
	return func(s *handlerSettings) { s.authorize = authorize }
}

// Handler returns an HTTP handler with a status page of the cluster as this node sees it, and with
// health checks. Restrict access to it: anyone who can reach it sees the members and singletons.
// Mount it under a path that ends in a slash:
//
//	mux.Handle("/cluster/", http.StripPrefix("/cluster", node.Handler()))
//
// It serves these paths below that one:
//
//	/              a page that draws members, links, leader and singletons, live
//	/status        the same as JSON
//	/events        the same as server-sent events: now, and after each change
//	/actors        what the actors of this node do, by kind, and what is slow, as JSON
//	/details       links to other nodes, journals, projections, placed actors and entities, as JSON
//	/history       what this node has decided and noticed: downed members, moved singletons, as JSON
//	/dead-letters  the last messages on this node that could not be delivered, as JSON
//	/given-up      messages to singletons that were given up and are kept on this node, as JSON
//	/entity        what an entity has stored, as JSON; 404 without [ShowStates]
//	/metrics       what [WithMetrics] has been given; 404 without it
//	/livez         200 unless the node has ended
//	/readyz        200 while the node is up, and the members agree or one is unreachable
//
// A request that arrives on a loopback address must name it in its header Host: by an IP address,
// by localhost or a name below it, or by the name of the machine. Otherwise the answer is 403, as a
// page of another site may have led its name there. /livez and /readyz answer every request.
//
// It changes nothing unless [AllowActions] is given. Any number of servers may use it, also after
// the node has ended. Streams end with the node, and when their http.Server shuts down.
func (n *Node) Handler(opts ...HandlerOption) http.Handler {
	var set handlerSettings
	options.MustApply("cluster: Handler", &set, opts)
	return statuspage.New((*statusSource)(n), statuspage.Options{Actions: actionsOf(n, set.authorize), Metrics: set.metrics, States: statesOf(n, &set), Runs: func() status.Runs { return status.RunsOf(n.System) }})
}

func actionsOf(n *Node, authorize func(*http.Request) error) *statuspage.Actions {
	if authorize == nil {
		return nil
	}
	return &statuspage.Actions{
		Authorize:    authorize,
		Down:         n.Down,
		FoundWithout: func(addresses []string) error { return n.FoundWithout(addresses...) },
		Leave:        func() { go n.leaveAlone() },
		Resend:       func(number uint64) error { return singleton.Resend(n.System, number) },
		Discard:      func(number uint64) error { return singleton.Discard(n.System, number) },

		ResendLetter:  func(number uint64) (statuspage.Resent, error) { return resendLetter(n, number) },
		DiscardLetter: func(number uint64) error { return actorhook.Discard(n.System, number) },
		Retry: func(ctx context.Context, projection string) (statuspage.Retried, error) {
			outcome := status.Retry(ctx, n.System, projection)
			if outcome == nil {
				return statuspage.Retried{}, fmt.Errorf("no projection %q runs on this node", projection)
			}
			return statuspage.Retried{Projection: projection, Done: outcome.Done, Held: outcome.Held}, nil
		},
	}
}

type statusSource Node

var _ statuspage.Source = (*statusSource)(nil)

func (n *statusSource) Refresh(ctx context.Context) {
	if _, _, ended := n.views.read(); ended {
		return
	}
	var asks sync.WaitGroup
	asks.Go(func() { n.figures.refresh(ctx) })
	asks.Go(func() { n.backlogs.refresh(ctx) })
	asks.Go(func() { status.Refresh(ctx, n.System) })
	asks.Wait()
}

func (n *statusSource) Snapshot() (statuspage.Snapshot, <-chan struct{}) {
	v, changed, ended := n.views.read()
	if ended {
		changed = nil
	}
	s := snapshotOf(v)
	s.Cluster, s.Time = n.cfg.Name, time.Now()
	s.Settings, s.Expected = n.cfg.shown()
	told := n.figures.known()
	told[v.Self.ID()] = n.figures.own()
	s.Singletons = completeByHosts(shownSingletons(v, singleton.Statuses(n.System), singletons.AllKnown(n.System)), told)
	s.Unanswered = silentMembers(v, told)
	for _, each := range told {
		s.FiguresLeftOut += each.LeftOut
	}
	s.DeadLetters = deadLettersByReason(n.System)
	s.Waiting = list((*Node)(n).waiting(v, ended))
	s.Absent = list(membership.Absent(v.in))
	s.Skipped = (*Node)(n).skippedKinds()
	s.AppVersions = list(v.AppVersions())
	s.Live, s.Ready = checksOf(v, ended)
	return s, changed
}

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
		AppVersion:    m.AppVersion,
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

// list returns s for JSON: an empty list instead of null.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// checksOf returns the checks of livez and readyz. An unreachable member does not make the others
// unready, because they are the ones that continue. A node that is cut off stays ready until it is
// down, because before that it cannot know which side it is on.
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
		agreed.Reason = "the members do not agree on the membership yet"
	}
	return []statuspage.Check{running}, []statuspage.Check{up, agreed}
}

func statusInWords(s Status) string {
	if s == 0 {
		return "looking for a cluster"
	}
	return s.String()
}

// idAt returns the ID of the member at an address, or the address if there is no such member any
// more.
func idAt(v View, address string) string {
	i := slices.IndexFunc(v.Members, func(m Member) bool { return m.Address == address && m.Status < Down })
	if i < 0 {
		return address
	}
	return v.Members[i].ID().String()
}

// waiting returns sentences that say why the node does not make progress, the gravest first.
func (n *Node) waiting(v View, ended bool) []string {
	switch {
	case ended && n.failure != nil:
		return []string{"This node has ended: " + n.failure.Error() + "."}
	case ended:
		return append(whyLost(v), "This node has ended.")
	case v.Self.Status == 0:
		why, advice := n.whyNotUp()
		sentences := append(whyLost(v), "This node "+why+".")
		for _, each := range advice {
			sentences = append(sentences, strings.ToUpper(each[:1])+each[1:]+".")
		}
		return sentences
	case v.Self.Status >= Down && membership.Lost(v.in) != "":
		return append(whyLost(v), "This node stops what it runs.")
	case v.Self.Status >= Down:
		return []string{"This node leaves: it stops what it runs."}
	}
	return membership.Reasons(v.in)
}

func whyLost(v View) []string {
	if why := membership.Lost(v.in); why != "" {
		return []string{"This node was taken down: " + why + "."}
	}
	return nil
}
