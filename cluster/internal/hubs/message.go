package hubs

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/remote"
)

// A Message is one from the hub of a node to the hub of another. One of its fields besides From is
// set.
type Message struct {
	_      struct{} `cbor:",toarray"`
	From   remote.NodeID
	Return *Letter
	Recall *Recall
	Passed *Recall
}

// A Letter is a message that the node to which it was sent does not take, because its recipient is
// not there; or one that a recipient there has left to the next one.
type Letter struct {
	_       struct{} `cbor:",toarray"`
	Left    bool
	Path    string // of the recipient: it has no address
	Payload extension.Payload
}

// A Recall asks a node to return all letters of the sender for a lane; or those that were left
// there, for the generation that Number is. The node sends it back behind them.
type Recall struct {
	_      struct{} `cbor:",toarray"`
	Left   bool
	Of     string // of the lane: its type or label
	Shard  int
	Number uint64
}

func init() {
	actor.RegisterType[Message]("understudy/hub.message")
}

// OvertakesNone implements actorhook.Last. A recall must come behind all letters, which have other
// recipients: large ones take longer, and hold up those behind them.
func (m Message) OvertakesNone() bool { return m.Recall != nil }

// Carried is for [extension.DeadLetter]: it returns the message of the user in a letter.
func (m Message) Carried(s *actor.System) (recipient string, msg any, ok bool) {
	if m.Return == nil {
		return "", nil, false
	}
	content, err := extension.Unpack(s, m.Return.Payload)
	if err != nil {
		content = m.Return.Payload
	}
	return "understudy://" + s.Name() + m.Return.Path, content, true
}
