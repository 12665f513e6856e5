package membership

// A message is sent from node to node, or by gossip.
//
//sumtype:decl
type message interface{ message() }

// A heartbeat says that the sender is alive, and what it knows, as sums. A heartbeat between
// two regular ones, sent because of news, has the number of the last regular one. It does not
// count for the rhythm that the detector observes.
type heartbeat struct {
	_       struct{} `cbor:",toarray"`
	Cluster ClusterID
	Seq     uint64
	Stream  bool // sent on the TCP stream; a copy went as a datagram
	Members uint64
	All     uint64
	Seen    []byte // the sender's witnesses of Members
}

type joinRequest struct {
	_         struct{} `cbor:",toarray"`
	To        string   // the address that was asked, as the sender knows it
	Name      string
	Roles     []string
	Meta      map[string]string
	Agreement agreement
	Replaces  []uint64 // earlier incarnations at the sender's address that it knows to be dead
	FoundsAs  founder
	Gone      []string // the addresses that an operator has declared gone

	AppVersion string
}

type verdict uint8

const (
	welcome   verdict = iota + 1 // the sender is joining; the table is in the answer
	notMember                    // the answering node looks for a cluster itself
	busy                         // ask again: the answering node cannot decide now
	replace                      // ask again, and say that the sender replaces these incarnations
	nameTaken                    // another member has the sender's name
	refused                      // the sender will never be admitted
	buried                       // this incarnation of the sender has been removed
)

type joinAnswer struct {
	_        struct{} `cbor:",toarray"`
	To       string   // as in the request
	Verdict  verdict
	Reason   string
	Replaces []uint64
	Table    packed
	Names    []string // the seeds of the answering node, see seed_group.go
	Grants   bool     // the receiver may found a cluster as the lowest of its group
}

type tablePull struct {
	_ struct{} `cbor:",toarray"`
}

// A tablePush carries a table, or a part of it. Gossip relays it, so it names its origin.
type tablePush struct {
	_     struct{} `cbor:",toarray"`
	From  ID
	Whole bool
	Table packed
}

// A youAreDown tells a node that the sender's cluster has taken it down, and contains the table
// as proof.
type youAreDown struct {
	_     struct{} `cbor:",toarray"`
	Table packed
}

// A gone says that the sender has stopped all it ran and is no longer a member.
type gone struct {
	_ struct{} `cbor:",toarray"`
}

type goneSeen struct {
	_ struct{} `cbor:",toarray"`
}

// An observe asks a member from which heartbeats are missing to send some. That member may not
// know yet that the sender observes it.
type observe struct {
	_ struct{} `cbor:",toarray"`
}

// A greeting invites any node at an address: to join, or to compare clusters.
type greeting struct {
	_       struct{} `cbor:",toarray"`
	Cluster ClusterID
	Size    uint64 // members that are up
}

// A dissolve tells the members of the sender's cluster to leave it at once and to join the
// cluster at the given addresses.
type dissolve struct {
	_       struct{} `cbor:",toarray"`
	Instead []string
}

func (heartbeat) message()   {}
func (joinRequest) message() {}
func (joinAnswer) message()  {}
func (tablePull) message()   {}
func (tablePush) message()   {}
func (youAreDown) message()  {}
func (gone) message()        {}
func (goneSeen) message()    {}
func (observe) message()     {}
func (greeting) message()    {}
func (dissolve) message()    {}
