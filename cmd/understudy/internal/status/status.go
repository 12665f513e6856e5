// Package status has what the command reads of the JSON that node.Handler() serves. A node of
// another release may send more, or less; what it does not send is zero. The tests of the module
// understudytest compare the types with those of the node.
package status

import (
	"errors"
	"slices"
	"time"
)

// ErrNoActions means that nobody can change the cluster through the node.
var ErrNoActions = errors.New("the program of the node does not allow actions; pass cluster.AllowActions to node.Handler")

// A Snapshot is a cluster as one node sees it.
type Snapshot struct {
	Cluster           string            `json:"cluster"`
	Time              time.Time         `json:"time"`
	Self              Member            `json:"self"`
	Leader            string            `json:"leader"` // its ID, or ""
	Converged         bool              `json:"converged"`
	Members           []Member          `json:"members"`
	Singletons        []Singleton       `json:"singletons"`
	SingletonsLeftOut int               `json:"singletonsLeftOut"`
	Unanswered        []string          `json:"unanswered"` // IDs
	AppVersions       []string          `json:"appVersions"`
	DeadLetters       map[string]uint64 `json:"deadLetters"` // by reason
	Waiting           []string          `json:"waiting"`
	Problems          []Problem         `json:"problems"`
	Actions           bool              `json:"actions"`
	Live              []Check           `json:"live"`
	Ready             []Check           `json:"ready"`
}

// A Member is one incarnation of a node.
type Member struct {
	ID            string   `json:"id"`
	Name          string   `json:"name"`
	Address       string   `json:"address"`
	Status        string   `json:"status"`
	Number        uint64   `json:"number"`
	Roles         []string `json:"roles"`
	AppVersion    string   `json:"appVersion"`
	Reachable     bool     `json:"reachable"`
	UnreachableBy []string `json:"unreachableBy"` // IDs
}

// A Singleton is one singleton as the node sees it.
type Singleton struct {
	Name           string     `json:"name"`
	Phase          string     `json:"phase"` // "" without a manager on the node
	Since          *time.Time `json:"since"`
	Host           string     `json:"host"` // its ID, or ""
	Here           bool       `json:"here"`
	Generation     string     `json:"generation"`
	Term           uint64     `json:"term"`
	Managers       []string   `json:"managers"` // IDs
	Held           int        `json:"held"`
	Unacknowledged int        `json:"unacknowledged"`
	Placement      string     `json:"placement"`
	Lease          string     `json:"lease"`
	LeaseHeld      bool       `json:"leaseHeld"`
	Obstacle       string     `json:"obstacle"`
	Mismatch       string     `json:"mismatch"`
	WaitingFor     []string   `json:"waitingFor"` // IDs
	NotBefore      *time.Time `json:"notBefore"`
	Why            string     `json:"why"`
	CrashLoop      bool       `json:"crashLoop"`
	Nowhere        bool       `json:"nowhere"`
	AtHost         *AtHost    `json:"atHost"`
}

// AtHost has the figures that the host of a singleton has sent.
type AtHost struct {
	Phase          string     `json:"phase"`
	Starts         uint64     `json:"starts"`
	Failures       uint64     `json:"failures"`
	RestartsInARow int        `json:"restartsInARow"`
	LastError      string     `json:"lastError"`
	FailedAt       *time.Time `json:"failedAt"`
}

// A Problem is why something does not move.
type Problem struct {
	Kind  string `json:"kind"`
	About string `json:"about"` // a member, journal, projection, label or path, or ""
	Text  string `json:"text"`
}

// Actors are what the actors of a node do.
type Actors struct {
	Problems []Problem `json:"problems"`
	Handlers []Handler `json:"handlers"` // under way, slowest first
	Backlogs []Backlog `json:"backlogs"` // of the cluster, most behind first; nil of an older release
}

// A Backlog is what waits for one actor.
type Backlog struct {
	Node          string            `json:"node" jsonschema:"the member on which the actor is"`
	Actor         string            `json:"actor" jsonschema:"the path, with the address of the node"`
	Kind          string            `json:"kind"`
	Waiting       int               `json:"waiting" jsonschema:"messages"`
	OldestSeconds float64           `json:"oldestSeconds" jsonschema:"for how long its oldest request has waited or been handled; 0 if that is not known"`
	AskSeconds    float64           `json:"askSeconds" jsonschema:"how long the ask of that request waits in all"`
	Dropped       map[string]uint64 `json:"dropped" jsonschema:"messages to it that were not delivered, by reason"`
	Why           string            `json:"why" jsonschema:"which limits it exceeds, empty if none"`
}

// A Handler is a handler that is under way.
type Handler struct {
	Path    string  `json:"path"`
	Message string  `json:"message"` // the message type of the actor
	Seconds float64 `json:"seconds"` // for at least as long
}

// Details are what a node depends on and takes part in.
type Details struct {
	Links     []Link     `json:"links"`
	LinksLeft int        `json:"linksLeftOut"`
	Journals  []Journal  `json:"journals"`
	Placement *Placement `json:"placement"` // or nil

	Projections []Projection `json:"projections"` // nil if the node runs none

	EntityTypes []EntityType `json:"entityTypes"` // nil if the node has started none
	Schedules   []Schedule   `json:"schedules"`   // likewise
}

// A Projection is a projection that the node runs.
type Projection struct {
	Name       string   `json:"name"`
	LagSeconds float64  `json:"lagSeconds" jsonschema:"how far it is behind its journal, 0 if it has caught up"`
	Events     uint64   `json:"events" jsonschema:"handled since it started"`
	Skipped    uint64   `json:"skipped" jsonschema:"events that it has skipped, and lacks"`
	Failures   uint64   `json:"failures"`
	Stalled    int      `json:"stalled" jsonschema:"workers that have failed, and have not caught up since"`
	Held       int      `json:"held" jsonschema:"persistence ids whose events it holds back"`
	Failure    string   `json:"failure" jsonschema:"why it is stalled, or holds something back; or empty"`
	HeldIDs    []HeldID `json:"heldIDs" jsonschema:"at most 100 of the ids"`
}

// A HeldID is a persistence id whose events a projection holds back.
type HeldID struct {
	ID      string `json:"id"`
	From    uint64 `json:"from" jsonschema:"the number of the event that cannot be decoded"`
	Last    uint64 `json:"last" jsonschema:"the number of the last event that waits behind it, or of itself"`
	Failure string `json:"failure" jsonschema:"why it cannot be decoded"`
}

// A Retried says what has become of the events that a projection has held back.
type Retried struct {
	Projection string `json:"projection"`
	Done       bool   `json:"done"` // false: it goes on
	Held       int    `json:"held"` // persistence ids that are still held back
}

// Runs are runs of a type of workflows.
type Runs struct {
	Type   string         `json:"type"`
	Counts map[string]int `json:"counts" jsonschema:"of all runs of the type, by state"`
	Runs   []WorkflowRun  `json:"runs"`
	More   int            `json:"more" jsonschema:"runs that are left out"`
}

// A WorkflowRun is a run of a workflow.
type WorkflowRun struct {
	ID       string     `json:"id"`
	Tag      string     `json:"tag"`
	State    string     `json:"state" jsonschema:"running, waiting, held, compensating, done, failed or cancelled"`
	Began    time.Time  `json:"began"`
	Ended    *time.Time `json:"ended"`
	Outcomes int        `json:"outcomes" jsonschema:"steps and awaits that are done"`
	Steps    []Step     `json:"steps" jsonschema:"that have not ended; empty in a list"`
	Signals  []string   `json:"signals" jsonschema:"that nobody has awaited"`
	Unasked  []string   `json:"unasked" jsonschema:"stored outcomes for which the program does not ask"`
	Error    string     `json:"error" jsonschema:"why it is held, has failed or was cancelled"`
	Next     *time.Time `json:"next" jsonschema:"when a run that is held is tried again"`
}

// A Step is a step or a wait of a run that has not ended.
type Step struct {
	Name    string     `json:"name"`
	Doing   string     `json:"doing" jsonschema:"executing, retrying or waiting"`
	Attempt int        `json:"attempt"`
	Error   string     `json:"error" jsonschema:"of the last attempt"`
	Next    *time.Time `json:"next" jsonschema:"of the next attempt, or the end of the wait"`
	Begun   *time.Time `json:"begun" jsonschema:"of the attempt that runs"`
}

// A Schedule is a schedule that the node that was asked has started.
type Schedule struct {
	Name    string  `json:"name"`
	Here    bool    `json:"here" jsonschema:"the node hosts the schedule; only then its entries are known"`
	Entries []Entry `json:"entries"`
}

// An Entry is an entry of a schedule.
type Entry struct {
	Name    string            `json:"name"`
	Job     string            `json:"job"`
	Spec    string            `json:"spec" jsonschema:"the cron expression"`
	Zone    string            `json:"zone" jsonschema:"empty for UTC"`
	Paused  bool              `json:"paused"`
	Next    *time.Time        `json:"next" jsonschema:"when the next run begins, or null"`
	Open    []Run             `json:"open" jsonschema:"runs that wait or go on"`
	Counts  map[string]uint64 `json:"counts" jsonschema:"runs by outcome: done, failed, missed, overlapped"`
	Last    *Run              `json:"last" jsonschema:"the last run that has ended or was skipped, or null"`
	Problem string            `json:"problem" jsonschema:"why the host cannot tell when the entry is due, or empty"`
}

// A Run is a run of an entry.
type Run struct {
	Due     time.Time  `json:"due"`
	Begun   *time.Time `json:"begun" jsonschema:"null if it waits, or did not take place"`
	Attempt int        `json:"attempt"`
	Outcome string     `json:"outcome" jsonschema:"empty while it is open"`
	Error   string     `json:"error"`
}

// An EntityType is a type of entities, as the node that was asked knows it.
type EntityType struct {
	Name     string `json:"name"`
	Role     string `json:"role" jsonschema:"which nodes host it; empty for all"`
	Shards   int    `json:"shards"`
	Hosts    bool   `json:"hosts" jsonschema:"the node takes shards of it"`
	Refused  string `json:"refused" jsonschema:"why the node takes no part, or empty"`
	Lease    string `json:"lease" jsonschema:"held, or why the node has no lease, or empty if it needs none"`
	Homes    []Home `json:"homes" jsonschema:"the nodes that have shards"`
	Homeless int    `json:"homeless" jsonschema:"shards that run nowhere, as far as the node knows"`
	Here     int    `json:"here" jsonschema:"shards on the node"`
	Leaving  int    `json:"leaving" jsonschema:"those that are about to leave it"`
	Awake    int    `json:"awake" jsonschema:"entities on the node that are awake"`
	Held     int    `json:"held" jsonschema:"messages told on the node that wait for a shard"`
	Failures uint64 `json:"failures" jsonschema:"failures of entities on the node"`

	Dropped map[string]uint64 `json:"dropped" jsonschema:"messages that have become dead letters on the node, by reason"`
}

// AllDropped returns how many messages have been dropped for any reason.
func (t EntityType) AllDropped() (n uint64) {
	for _, of := range t.Dropped {
		n += of
	}
	return n
}

// A Home is a node that has shards of a type.
type Home struct {
	ID        string `json:"id"`
	Name      string `json:"name" jsonschema:"empty if it is no member any more"`
	Reachable bool   `json:"reachable"`
	Shards    int    `json:"shards"`
}

// A Link is the connection of a node with another one.
type Link struct {
	State string `json:"state"`
}

// A Journal is what persistent actors have done with the journals of one store.
type Journal struct {
	Name    string            `json:"name"`
	Appends Calls             `json:"appends"`
	Errors  map[string]uint64 `json:"errors"` // by kind
}

// Calls are the calls of one operation of a journal.
type Calls struct {
	Count uint64 `json:"count"`
}

// Placement is what the coordinator of placement knows.
type Placement struct {
	Coordinator string         `json:"coordinator"`
	States      map[string]int `json:"states"` // actors by state
}

// A Check is one condition of being live or ready.
type Check struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason"`
}

// DeadLetters are the messages that could not be delivered on a node.
type DeadLetters struct {
	ByReason map[string]uint64 `json:"byReason" jsonschema:"how many there have been since the node started, by reason"`
	Letters  []DeadLetter      `json:"letters" jsonschema:"those that the node has kept and that were selected, newest first"`
	LeftOut  int               `json:"leftOut" jsonschema:"how many more were selected than the limit"`
}

// A DeadLetter describes a message that could not be delivered, or several equal ones in a row.
type DeadLetter struct {
	Recipient string    `json:"recipient"`
	Sender    string    `json:"sender" jsonschema:"the path of the actor whose ask the message belongs to, or of the ask on another node; empty if it is not known"`
	Type      string    `json:"type" jsonschema:"the Go type of the message"`
	Reason    string    `json:"reason"`
	Text      string    `json:"text" jsonschema:"the whole error, empty if it is the reason"`
	Count     uint64    `json:"count" jsonschema:"how many equal ones there were in a row"`
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Numbers   []string  `json:"numbers" jsonschema:"of the messages that the node keeps and can send again, the oldest first"`
	NotKept   string    `json:"notKept" jsonschema:"why it keeps none, with the line to change; empty if it does or did, or keeps no messages at all"`
	Asked     bool      `json:"asked" jsonschema:"an ask waited for the reply and has ended: if the message is sent again, its reply reaches nobody"`
}

// A Resent says what has become of the message of a dead letter that was sent again.
type Resent struct {
	Number  string `json:"number"`
	To      string `json:"to"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	Again   string `json:"again"`
}

// Outcomes of a message that was sent again.
const (
	Delivered     = "delivered"      // to an actor of the node
	Sent          = "sent"           // to another node or an entity, and the node knows no more
	HandlerFailed = "handler failed" // of an actor of the node
	DeadAgain     = "dead again"
)

// An Entity is what an entity has stored.
type Entity struct {
	Type          string        `json:"type"`
	ID            string        `json:"id"`
	PersistenceID string        `json:"persistenceID" jsonschema:"the id under which the journal has it"`
	Seq           uint64        `json:"seq" jsonschema:"the number of the last event in the state; 0 if nothing is stored"`
	Time          *time.Time    `json:"time" jsonschema:"when that event was stored; null if a snapshot has the state"`
	Shredded      uint64        `json:"shredded" jsonschema:"how many events were left out because their keys were destroyed"`
	State         any           `json:"state" jsonschema:"bytes and secret fields are left out"`
	Events        []EntityEvent `json:"events" jsonschema:"the last ones, the oldest first"`
	Since         uint64        `json:"since" jsonschema:"the event with whose state the changes begin"`
	Changes       []Change      `json:"changes"`
}

// An EntityEvent is one event of an entity.
type EntityEvent struct {
	Seq      uint64    `json:"seq"`
	Time     time.Time `json:"time"`
	Type     string    `json:"type" jsonschema:"the name under which it is registered"`
	Event    any       `json:"event"`
	Shredded bool      `json:"shredded" jsonschema:"its key was destroyed"`
	Error    string    `json:"error" jsonschema:"why it cannot be decoded"`
}

// A Change is a difference between two states.
type Change struct {
	Path   string `json:"path" jsonschema:"of the field, such as items.3.count"`
	Before any    `json:"before"`
	After  any    `json:"after"`
}

// GivenUp are the messages to singletons that a node has put aside.
type GivenUp struct {
	Node     string           `json:"node"`
	Messages []GivenUpMessage `json:"messages"` // oldest first
}

// A GivenUpMessage describes one of them.
type GivenUpMessage struct {
	Number    uint64    `json:"number"`
	Singleton string    `json:"singleton"`
	Type      string    `json:"type"`
	Reason    string    `json:"reason"`
	Time      time.Time `json:"time"`
}

// A History is what a node has decided and noticed.
type History struct {
	Node   string  `json:"node"`
	Events []Event `json:"events"` // newest first
}

// An Event is one decision, or several of the same kind for the same reason.
type Event struct {
	Kind    string    `json:"kind" jsonschema:"what happened"`
	Subject string    `json:"subject" jsonschema:"members or singletons, at most four names; empty for none"`
	Reason  string    `json:"reason" jsonschema:"why, empty if there is no more to say"`
	Node    string    `json:"node" jsonschema:"the node that remembers it"`
	Count   uint64    `json:"count" jsonschema:"how many such events there were"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
}

// NameOf returns the name of the member with an ID, or the ID if there is no such member.
func (s Snapshot) NameOf(id string) string {
	if i := slices.IndexFunc(s.Members, func(m Member) bool { return m.ID == id }); i >= 0 {
		return s.Members[i].Name
	}
	return id
}

// NamesOf returns the names of members, without null.
func (s Snapshot) NamesOf(ids []string) []string {
	names := []string{}
	for _, id := range ids {
		names = append(names, s.NameOf(id))
	}
	return names
}

// Ended reports whether the node has left, was shut down, or is down for good.
func (s Snapshot) Ended() bool {
	return slices.ContainsFunc(s.Live, func(c Check) bool { return !c.OK })
}
