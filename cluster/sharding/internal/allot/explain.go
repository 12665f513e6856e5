package allot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An Explanation is what the machine knows of a shard.
type Explanation struct {
	_          struct{} `cbor:",toarray"`
	Node       string   // the name of its node; "" while it has no home
	Address    string   // of that node
	Generation uint64   // of its last home
	State      string   // homeless, starting, running or leaving
	Since      time.Time
	Why        string // why it does not run, or why it is not moved to balance the nodes; "" if nothing is to be said
	Failures   int    // in a row
	LastError  string
	Pinned     string // the name of the node where it has been pinned to; "" for none
	Strategy   string // that has chosen its node; "" if a former coordinator has, or it has none
}

var stageNames = map[stage]string{homeless: "homeless", starting: "starting", settled: "running", leaving: "leaving"}

// Explain returns what the machine knows of a shard. Of an unknown type it says that.
func (m *Machine) Explain(typ string, shard int) Explanation {
	sh := m.shards.of(Label(typ, shard))
	if sh == nil {
		return Explanation{State: stageNames[homeless], Why: fmt.Sprintf("the coordinator knows no shard %d of type %q: no member has started the type, or its message has not come yet", shard, typ)}
	}
	return Explanation{
		Node: sh.Node, Address: sh.Address, Generation: sh.Generation.Term, State: stageNames[sh.stage], Since: sh.since,
		Why: m.shards.why(sh), Failures: sh.failures, LastError: sh.lastError, Pinned: sh.Pin, Strategy: sh.chosenBy,
	}
}

// why returns why a shard does not run, or is not moved, or "".
func (s *shards) why(sh *shard) string {
	awaited := s.nodes.Awaited(sh.label)
	former, strange := s.stranger(sh)
	switch {
	case s.fences.awaited(sh) != "":
		return s.fences.awaited(sh)
	case sh.stage == settled && sh.Pin != "":
		if sh.Node != sh.Pin {
			return s.whyAway(sh)
		}
		return "it is pinned to " + sh.Pin
	case sh.stage == settled:
		if s.balance.why != "" {
			return "no shard is moved, because " + s.balance.why
		}
		return sh.typ.strategyProblem
	case sh.typ.next > 0:
		return fmt.Sprintf("the number of daemons is about to change from %d to %d, when all have ended", sh.typ.Shards, sh.typ.next)
	case !s.nodes.Settled():
		return "the coordinator does not know yet what all nodes run"
	case awaited != "":
		return awaited
	case sh.stage != homeless:
		return ""
	case len(s.nodes.PlacesOf(sh.label)) > 0:
		return "a node runs it that was not asked to, and is to stop it"
	case s.nodes.Now().Before(sh.retryAt):
		return fmt.Sprintf("it has failed (%s), and is started again at %s", sh.lastError, sh.retryAt.Format(time.RFC3339))
	case sh.stage == homeless && !s.hearing.over:
		return whyUnheard(s)
	case sh.stage == homeless && strange:
		return whyStranger(former)
	case !s.hasHost(sh.typ) && len(s.offers.leaseless(sh.typ)) > 0:
		return "no member that hosts the type has its lease: " + strings.Join(s.offers.leaseless(sh.typ), ", ")
	case !s.hasHost(sh.typ):
		return "no member that is up hosts the type" + s.role(sh.typ)
	}
	return aboutToStart
}

// aboutToStart is said of shards that nothing keeps from running.
const aboutToStart = "it is about to be started"

// whyUnheard says why a new coordinator gives no homes yet.
func whyUnheard(s *shards) string {
	up, silent := heard(s)
	if up == 0 {
		return "the coordinator knows of no member that is up"
	}
	return silent + " has not said yet what it hosts"
}

// role says which role the nodes need that host a type.
func (s *shards) role(k *kind) string {
	if k.Role == "" {
		return ""
	}
	return fmt.Sprintf(" with the role %q", k.Role)
}

// Homeless are the shards of a type that run nowhere for one reason.
type Homeless struct {
	_      struct{} `cbor:",toarray"`
	Type   string   `json:"type"`
	Why    string   `json:"why"`
	Shards []int    `json:"shards"` // their numbers, in order; at least one
}

// Homeless returns the shards that do not run, by type and reason.
func (m *Machine) Homeless() []Homeless {
	type reason struct{ typ, why string }
	numbers := map[reason][]int{}
	for name, k := range m.shards.kinds {
		for _, sh := range k.live() {
			if of := (reason{name, m.shards.why(sh)}); sh.stage == homeless && of.why != aboutToStart {
				numbers[of] = append(numbers[of], sh.number)
			}
		}
	}
	all := []Homeless{}
	for of, shards := range numbers {
		all = append(all, Homeless{Type: of.typ, Why: of.why, Shards: shards})
	}
	slices.SortFunc(all, func(a, b Homeless) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Shards[0], b.Shards[0]))
	})
	return all
}
