package home

// An Input is something that happens to a coordinator: one of those here, which concern the nodes,
// or one that only a workload knows.
type Input interface{ IsInput() }

type (
	// Recovered says that all facts have been replayed. It is the first input, and occurs once.
	Recovered struct{}

	// ViewChanged has the whole state of the cluster: all members, and the former members that may
	// still be running. Actors, Ready and Draining of the nodes are ignored.
	ViewChanged struct {
		Nodes []Node
		Gone  []Gone
	}

	// Received has a message of an agent.
	Received struct {
		_       struct{} `cbor:",toarray"`
		Message FromAgent
	}

	// Drain says that the node is leaving, so all actors that can be moved are moved away. Token is
	// answered when nothing more can be moved. A node that is not a member counts as empty.
	Drain struct {
		Token Token
		Node  NodeID
	}

	// Tick says that it is the time that Next has returned, or later.
	Tick struct{}
)

// IsInput implements [Input].
func (Recovered) IsInput() {}

// IsInput implements [Input].
func (ViewChanged) IsInput() {}

// IsInput implements [Input].
func (Received) IsInput() {}

// IsInput implements [Input].
func (Drain) IsInput() {}

// IsInput implements [Input].
func (Tick) IsInput() {}
