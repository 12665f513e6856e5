package cluster

import (
	"cmp"
	"slices"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/protocol"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/internal/statuspage"
	"github.com/understudy-go/understudy/singleton"
)

// mostFigures is how many singletons one answer contains.
const mostFigures = 1000

// The messages between nodes for their status pages.
type (
	// figuresTold has the figures of the singletons that a node hosts, or that can run nowhere.
	figuresTold struct {
		_       struct{} `cbor:",toarray"`
		Figures []singletonFigures
		LeftOut int // singletons that mostFigures excludes
	}

	singletonFigures struct {
		_              struct{} `cbor:",toarray"`
		Name           string
		Phase          singleton.Phase
		Since          time.Time
		Starts         uint64
		Failures       uint64
		RestartsInARow int
		CrashLoop      bool
		LastError      string
		FailedAt       time.Time
		Why            string
	}
)

func init() {
	actor.RegisterType[memberAsked[figuresTold]]("understudy.cluster.figures-asked")
	actor.RegisterType[figuresTold]("understudy.cluster.figures-told")
}

func figuresExchange(n *Node) *memberExchange[figuresTold] {
	return &memberExchange[figuresTold]{node: n, feature: protocol.Figures, name: "singleton-figures", own: func() figuresTold {
		return worthTelling(n.View().Self.Status == Up, singleton.Statuses(n.System))
	}}
}

// worthTelling selects the figures that a node sends, those with problems first. up says that the
// node is up; before that it does not know which singletons can run nowhere.
func worthTelling(up bool, all []singleton.Status) figuresTold {
	var told figuresTold
	for _, s := range all {
		if hosting(s.Phase) < notHosting || up && s.Phase == singleton.Pending && s.Host == "" && s.Mismatch == "" {
			told.Figures = append(told.Figures, figuresOf(s))
		}
	}
	slices.SortStableFunc(told.Figures, func(a, b singletonFigures) int { return cmp.Compare(a.trouble(), b.trouble()) })
	if left := len(told.Figures) - mostFigures; left > 0 {
		told.Figures, told.LeftOut = told.Figures[:mostFigures], left
	}
	return told
}

func (f singletonFigures) trouble() int {
	switch {
	case f.CrashLoop:
		return 0
	case f.Why != "":
		return 1
	case f.Failures > 0:
		return 2
	}
	return 3
}

// notHosting is the rank of phases in which a node has nothing to do with an instance.
const notHosting = 3

// hosting ranks phases: of two nodes, the one with the lower rank knows more of the instance.
func hosting(p singleton.Phase) int {
	switch p {
	case singleton.Host:
		return 0
	case singleton.HandingOver, singleton.Stopping:
		return 1
	case singleton.Asking, singleton.Acquiring:
		return 2
	case singleton.Pending, singleton.Standby, singleton.Ended:
	}
	return notHosting
}

func figuresOf(s singleton.Status) singletonFigures {
	f := singletonFigures{
		Name: s.Name, Phase: s.Phase, Since: s.Since, Starts: s.Starts, Failures: s.Failures,
		RestartsInARow: s.RestartsInARow, CrashLoop: s.CrashLoop(), FailedAt: s.FailedAt, Why: status.Text(s.Why),
	}
	if s.LastError != nil {
		f.LastError = status.Text(guard.Text(s.LastError))
	}
	return f
}

func completeByHosts(shown []statuspage.Singleton, told map[remote.NodeID]figuresTold) []statuspage.Singleton {
	best := map[string]source{}
	for id, each := range told {
		for _, f := range each.Figures {
			s := source{id, f}
			if other, has := best[f.Name]; !has || s.compare(other) < 0 {
				best[f.Name] = s
			}
		}
	}
	for i := range shown {
		if s, has := best[shown[i].Name]; has {
			s.complete(&shown[i])
		}
	}
	return shown
}

type source struct {
	remote.NodeID
	singletonFigures
}

// compare is negative if s knows more of the instance than o.
func (s source) compare(o source) int {
	return cmp.Or(cmp.Compare(hosting(s.Phase), hosting(o.Phase)), cmp.Compare(s.Address, o.Address), cmp.Compare(s.Incarnation, o.Incarnation))
}

func (s source) complete(shown *statuspage.Singleton) {
	noManager := shown.Phase == ""
	if noManager {
		shown.Why = s.Why
	}
	if hosting(s.Phase) == notHosting {
		shown.Nowhere = shown.Host == "" && (noManager || shown.Phase == string(singleton.Pending))
		return
	}
	if noManager {
		shown.Host = s.String()
	}
	if shown.Why == "" {
		shown.Why = s.Why
	}
	shown.CrashLoop = s.CrashLoop
	shown.AtHost = &statuspage.AtHost{
		Member: s.String(), Phase: string(s.Phase), Since: timeOrNil(s.Since),
		Starts: s.Starts, Failures: s.Failures, RestartsInARow: s.RestartsInARow,
		LastError: s.LastError, FailedAt: timeOrNil(s.FailedAt), Why: s.Why,
	}
}

func silentMembers(v View, told map[remote.NodeID]figuresTold) []string {
	silent := []string{}
	for _, m := range v.Members {
		if _, has := told[m.ID()]; !has && m.Status < Down {
			silent = append(silent, m.ID().String())
		}
	}
	slices.Sort(silent)
	return silent
}
