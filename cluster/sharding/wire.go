package sharding

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/shardtree"
)

// A toHub is a message from the hub of one node to the hub of another. One of its fields is set.
type toHub struct {
	_      struct{} `cbor:",toarray"`
	From   node.ID
	Return *returnedLetter
	Recall *recallOf
	Passed *recallOf
}

// A returnedLetter is a message that the node to which it was sent does not take, because the shard
// is not there; or one that an entity there has left to the next home.
type returnedLetter struct {
	_       struct{} `cbor:",toarray"`
	Left    bool
	Type    string
	Name    string // of the entity, as its path ends
	Payload extension.Payload
}

// A recallOf asks a node to return all letters of the sender for a shard; or those that its
// entities have left, for the generation of the shard that Number is. The node sends it back
// behind them.
type recallOf struct {
	_      struct{} `cbor:",toarray"`
	Left   bool
	Type   string
	Shard  int
	Number uint64
}

func init() {
	actor.RegisterType[toHub]("understudy/sharding.to-hub")
}

// OvertakesNone implements actorhook.Last. A recall must come behind all letters, which have other
// recipients: large ones take longer, and hold up those behind them.
func (m toHub) OvertakesNone() bool { return m.Recall != nil }

// Carried is for [extension.DeadLetter]: it returns the message of the user in a letter.
func (m toHub) Carried(s *actor.System) (recipient string, msg any, ok bool) {
	if m.Return == nil {
		return "", nil, false
	}
	path := "understudy://" + s.Name() + "/" + shardtree.Name + "/" + escape(m.Return.Type) + "/" + m.Return.Name
	content, err := extension.Unpack(s, m.Return.Payload)
	if err != nil {
		content = m.Return.Payload
	}
	return path, content, true
}
