package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// A Member is a member of a cluster.
type Member struct {
	Name          string   `json:"name"`
	Address       string   `json:"address"`
	Status        string   `json:"status" jsonschema:"joining, up, leaving, exiting or down"`
	Number        uint64   `json:"number" jsonschema:"the order of age, the oldest has the lowest; 0 while joining"`
	Roles         []string `json:"roles"`
	AppVersion    string   `json:"appVersion"`
	Leader        bool     `json:"leader"`
	Asked         bool     `json:"asked" jsonschema:"the node that was asked"`
	Reachable     bool     `json:"reachable"`
	UnreachableBy []string `json:"unreachableBy" jsonschema:"the members that do not hear from it"`
}

// Members are the members of a cluster, the oldest first.
type Members struct {
	Members []Member `json:"members"`
}

// MembersOf returns the members of a snapshot.
func MembersOf(s status.Snapshot) Members {
	all := Members{Members: []Member{}}
	for _, m := range s.Members {
		all.Members = append(all.Members, Member{
			Name: m.Name, Address: m.Address, Status: m.Status, Number: m.Number, Roles: list(m.Roles), AppVersion: m.AppVersion,
			Leader: m.ID == s.Leader, Asked: m.ID == s.Self.ID, Reachable: m.Reachable, UnreachableBy: s.NamesOf(m.UnreachableBy),
		})
	}
	slices.SortStableFunc(all.Members, func(a, b Member) int {
		return cmp.Or(cmp.Compare(age(a), age(b)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Members that have no number yet come behind the others.
func age(m Member) uint64 {
	if m.Number == 0 {
		return math.MaxUint64
	}
	return m.Number
}

// A Singleton is a singleton of a cluster.
type Singleton struct {
	Name       string     `json:"name"`
	Host       string     `json:"host" jsonschema:"the member that runs it or is about to, empty if none can"`
	Running    bool       `json:"running" jsonschema:"an instance runs, as far as the node knows"`
	Phase      string     `json:"phase" jsonschema:"of the manager on the node that was asked, empty without one"`
	Since      *time.Time `json:"since" jsonschema:"when that phase began"`
	Generation string     `json:"generation" jsonschema:"the generation, or term, of the instance"`
	Placement  string     `json:"placement" jsonschema:"where it may run"`
	Lease      string     `json:"lease" jsonschema:"the lease that protects it"`
	Starts     uint64     `json:"starts" jsonschema:"how many instances its host has started"`
	Failures   uint64     `json:"failures" jsonschema:"how many instances have failed there"`
	LastError  string     `json:"lastError"`
	Held       int        `json:"held" jsonschema:"messages that wait on the node that was asked"`
	Problem    string     `json:"problem" jsonschema:"what is wrong with it, empty if nothing is"`
}

// Singletons are the singletons of a cluster, by name.
type Singletons struct {
	Singletons []Singleton `json:"singletons"`
	LeftOut    int         `json:"leftOut" jsonschema:"how many more there are than the node lists"`
}

// SingletonsOf returns all singletons of a snapshot, or the one with a name. An unknown name is an
// error.
func SingletonsOf(s status.Snapshot, name string) (Singletons, error) {
	all := Singletons{Singletons: []Singleton{}, LeftOut: s.SingletonsLeftOut}
	for _, one := range s.Singletons {
		if name == "" || one.Name == name {
			all.Singletons = append(all.Singletons, singletonOf(s, one))
		}
	}
	if name == "" {
		return all, nil
	}
	if len(all.Singletons) == 0 {
		return all, fmt.Errorf("%s knows no singleton %q", s.Self.Name, name)
	}
	all.LeftOut = 0
	return all, nil
}

func singletonOf(s status.Snapshot, one status.Singleton) Singleton {
	shown := Singleton{
		Name: one.Name, Phase: one.Phase, Since: one.Since, Generation: one.Generation, Placement: one.Placement,
		Lease: one.Lease, Held: one.Held, Running: one.Here,
	}
	if one.Host != "" {
		shown.Host = s.NameOf(one.Host)
	}
	if !one.Here && one.Term > 0 {
		shown.Generation = fmt.Sprintf("term %d", one.Term)
	}
	if at := one.AtHost; at != nil {
		shown.Starts, shown.Failures, shown.LastError = at.Starts, at.Failures, at.LastError
		shown.Running = at.Phase == "host" && one.Why == ""
	}
	if kind := kindOf(one); kind != "" {
		shown.Problem = explain(s, one, kind)
	}
	return shown
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// Schedules are the schedules that a node has started, by name.
type Schedules struct {
	Schedules []status.Schedule `json:"schedules"`
}

// SchedulesOf returns the schedules of a node: only the one of that name, unless it is "".
func SchedulesOf(d status.Details, name string) (Schedules, error) {
	all := Schedules{Schedules: []status.Schedule{}}
	for _, s := range d.Schedules {
		if name == "" || name == s.Name {
			s.Entries = append([]status.Entry{}, s.Entries...) // not null in JSON
			all.Schedules = append(all.Schedules, s)
		}
	}
	if name != "" && len(all.Schedules) == 0 {
		return all, fmt.Errorf("the node has started no schedule %q", name)
	}
	return all, nil
}

// Events are what nodes have decided and noticed.
type Events struct {
	Events []status.Event `json:"events" jsonschema:"oldest first"`
	Silent []string       `json:"silent" jsonschema:"the URLs that were asked without success, each with the error"`
}

// EventsOf returns the events of several nodes in the order of time. A node that was asked under
// two URLs counts once.
func EventsOf(histories []status.History, silent []string) Events {
	all := Events{Events: []status.Event{}, Silent: list(silent)}
	seen := map[string]bool{}
	for _, h := range histories {
		if seen[h.Node] {
			continue
		}
		seen[h.Node] = true
		for _, e := range slices.Backward(h.Events) {
			all.Events = append(all.Events, e)
		}
	}
	slices.SortStableFunc(all.Events, func(a, b status.Event) int {
		return cmp.Or(a.Last.Compare(b.Last), strings.Compare(a.Node, b.Node))
	})
	return all
}

// CanBeDowned returns an error if the node does not let anybody take members down, or does not know
// the member.
func CanBeDowned(s status.Snapshot, member string) error {
	if !s.Actions {
		return status.ErrNoActions
	}
	var names []string
	for _, m := range s.Members {
		if m.Name == member {
			return nil
		}
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return fmt.Errorf("%s knows no member %q; there are %s", s.Self.Name, member, strings.Join(names, ", "))
}

// Entities are the types of entities that a node has started, by name.
type Entities struct {
	Types []status.EntityType `json:"types"`
}

// EntitiesOf returns the types of a node: only the one of that name, unless it is "".
func EntitiesOf(d status.Details, name string) (Entities, error) {
	all := Entities{Types: []status.EntityType{}}
	for _, t := range d.EntityTypes {
		if name == "" || name == t.Name {
			t.Homes = append([]status.Home{}, t.Homes...) // not null in JSON
			all.Types = append(all.Types, t)
		}
	}
	if name != "" && len(all.Types) == 0 {
		return all, fmt.Errorf("the node has started no type of entities %q", name)
	}
	return all, nil
}

func unsafeEntities(s status.Snapshot, d status.Details, others []answer) (reasons, notes []string) {
	for _, t := range d.EntityTypes {
		switch {
		case t.Leaving > 0:
			reasons = append(reasons, fmt.Sprintf("%d shards of %s are about to leave this node.", t.Leaving, t.Name))
		case t.Here > 0 && !slices.ContainsFunc(s.Members, func(m status.Member) bool { return isReady(s, m) && hosts(m, t, others) }):
			reasons = append(reasons, fmt.Sprintf("%d shards of %s run here, and no other member that is up and reachable takes shards of it.", t.Here, t.Name))
		case t.Here > 0:
			notes = append(notes, fmt.Sprintf("%d shards of %s will move, with %d entities that are awake.", t.Here, t.Name, t.Awake))
		}
		if t.Held > 0 {
			reasons = append(reasons, fmt.Sprintf("%d messages to entities of %s wait on this node, and may be lost.", t.Held, t.Name))
		}
	}
	return reasons, notes
}

// hosts reports whether a member takes shards of a type. It may have none, as nodes of an older
// version have none beside those of a newer one. A member that has not answered is judged by its
// role.
func hosts(m status.Member, t status.EntityType, others []answer) bool {
	i := slices.IndexFunc(others, func(o answer) bool { return o.Self.ID == m.ID })
	if i < 0 {
		return t.Role == "" || slices.Contains(m.Roles, t.Role)
	}
	return slices.ContainsFunc(others[i].details.EntityTypes, func(o status.EntityType) bool {
		return o.Name == t.Name && o.Hosts && o.Refused == ""
	})
}

// A GivenUpMessage is a message to a singleton that a node has put aside.
type GivenUpMessage struct {
	Node      string    `json:"node" jsonschema:"the node that keeps it, where it was sent"`
	Number    uint64    `json:"number" jsonschema:"of the message on that node"`
	Singleton string    `json:"singleton"`
	Type      string    `json:"type" jsonschema:"the Go type of the message"`
	Reason    string    `json:"reason" jsonschema:"the last failure"`
	Time      time.Time `json:"time" jsonschema:"when it was given up"`
}

// GivenUp are the messages that nodes have put aside.
type GivenUp struct {
	Messages []GivenUpMessage `json:"messages" jsonschema:"of each node, the oldest first"`
	Silent   []string         `json:"silent" jsonschema:"nodes that have not answered"`
}

// GivenUpOf returns the messages of all nodes to the singleton with a name, or all.
func GivenUpOf(nodes []status.GivenUp, silent []string, singleton string) GivenUp {
	all := GivenUp{Messages: []GivenUpMessage{}, Silent: list(silent)}
	for _, n := range nodes {
		for _, m := range n.Messages {
			if singleton == "" || m.Singleton == singleton {
				all.Messages = append(all.Messages, GivenUpMessage{n.Node, m.Number, m.Singleton, m.Type, m.Reason, m.Time})
			}
		}
	}
	return all
}
