package singletons

import (
	"bytes"
	"strings"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// An entry is where the messages of other nodes to a singleton come in that are encoded as those to
// other actors. While the bypass of the manager is open, they go to the instance at once. Others go
// by the hub to the manager, as a wire.Deliver does.
type entry struct {
	manager actor.AnyRef
	aside   atomic.Int64 // how many go by the hub now
}

// An Arrived is a message that goes by the hub. Until the manager has called Done, so do all later
// ones.
type Arrived struct {
	wire.Message[wire.Deliver]
	at *entry
}

// Done says that the manager has dealt with the message.
func (a Arrived) Done() {
	if a.at != nil {
		a.at.aside.Add(-1)
	}
}

// LocalOnly says that it does not leave its node as such.
func (Arrived) LocalOnly() bool { return true }

const entryTree = "singleton"

var escaper, unescaper = strings.NewReplacer("~", "~0", "/", "~1"), strings.NewReplacer("~1", "/", "~0", "~")

// escape returns the element of a path that stands for the name of a singleton, as in a JSON
// pointer (RFC 6901).
func escape(name string) string { return escaper.Replace(name) }

func (l *Link) entry(name string) *entry {
	at, _ := l.entries.Load(name)
	e, _ := at.(*entry)
	return e
}

// Bypassed implements extension.BypassedRouter. The messages of one node arrive one after the
// other, so those that go by the hub have been counted.
func (l *Link) Bypassed(name string) actor.AnyRef {
	if e := l.entry(name); e != nil && e.aside.Load() == 0 {
		return e.manager
	}
	return nil
}

// Arrived implements extension.BypassedRouter.
func (l *Link) Arrived(name string, from uint64, encoded extension.Arrival) {
	e := l.entry(name)
	if e != nil {
		e.aside.Add(1)
	}
	head := wire.Header{Name: unescaper.Replace(name), From: remote.NodeID{Incarnation: from}}
	body := wire.Deliver{Payload: extension.Payload{Type: encoded.Type, Data: bytes.Clone(encoded.Data)}}
	extension.TellWith[any](l.hub, Arrived{wire.New(head, body), e}, encoded.Metadata)
}

// SendStraight sends a message to the manager of the singleton of that name on another node,
// without its hub. A node that does not know the sender as a member takes it for one that was
// removed.
func (p *Post) SendStraight(self, to remote.NodeID, name string, d extension.Described[any]) {
	if p.name != name {
		p.name, p.entry, p.full = name, "/"+entryTree+"/"+escape(name), "understudy://"+p.System.Name()+"/user/"+name
	}
	d = d.Hold() // the manager that passes it on has not handled it
	extension.SendTo(p.System, extension.Target{Address: to.Address, Path: p.entry, UID: self.Incarnation, Full: p.full}, d.Message, d.Metadata)
}
