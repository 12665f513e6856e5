package membership

// A message is what nodes say to each other, node to node or by gossip.
//
//sumtype:decl
type message interface{ message() }

// heartbeat says that the sender is alive, and what it knows, in sums. One that goes out
// between two regular ones, because there is news, has the number of the last regular one:
// it is no part of the rhythm that is observed.
type heartbeat struct {
	_       struct{} `cbor:",toarray"`
	Cluster ClusterID
	Seq     uint64
	Stream  bool // sent on the TCP lane; its twin went as a datagram
	Members uint64
	All     uint64
	Seen    []byte // the sender's witnesses of Members
}

// joinRequest asks to become a member.
type joinRequest struct {
	_         struct{} `cbor:",toarray"`
	To        string   // the address that was asked, as the asker writes it
	Name      string
	Roles     []string
	Meta      map[string]string
	Agreement agreement
	Replaces  []uint64 // earlier incarnations at the asker's address that it knows to be dead
	FoundsAs  founder
	Gone      []string // the addresses that an operator has said to be gone
}

// A verdict is how a node answers a joinRequest.
type verdict uint8

const (
	welcome   verdict = iota + 1 // you are joining; here is the table
	notMember                    // I look for a cluster myself
	busy                         // ask again: I cannot tell now
	replace                      // say that you replace these incarnations, then ask again
	nameTaken                    // another member has your name
	refused                      // never
	buried                       // you, this incarnation, have been removed
)

// joinAnswer answers a joinRequest.
type joinAnswer struct {
	_        struct{} `cbor:",toarray"`
	To       string   // as in the request
	Verdict  verdict
	Reason   string
	Replaces []uint64
	Table    packed
	Names    []string // whom the one who answers names as seeds, see grouping.go
	Grants   bool     // the asker may found a cluster as the lowest of its group
}

// tablePull asks for the whole table.
type tablePull struct {
	_ struct{} `cbor:",toarray"`
}

// tablePush brings a table, or a part of it. By gossip it is relayed, so it says who spoke.
type tablePush struct {
	_     struct{} `cbor:",toarray"`
	From  ID
	Whole bool
	Table packed
}

// youAreDown tells a node that the sender's cluster has given it up, and proves it.
type youAreDown struct {
	_     struct{} `cbor:",toarray"`
	Table packed
}

// gone says that the sender has stopped all it ran and is no member any more.
type gone struct {
	_ struct{} `cbor:",toarray"`
}

// goneSeen acknowledges gone.
type goneSeen struct {
	_ struct{} `cbor:",toarray"`
}

// observe asks a member that should be heard and is not for heartbeats: it may not know yet
// that the sender observes it.
type observe struct {
	_ struct{} `cbor:",toarray"`
}

// greeting invites whoever lives at an address: to join, or to compare clusters.
type greeting struct {
	_       struct{} `cbor:",toarray"`
	Cluster ClusterID
	Size    uint64 // members that are up
}

// dissolve tells the members of the sender's cluster to leave it all at once and to join
// the one that lives at the given addresses.
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
