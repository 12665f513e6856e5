package actor

import (
	"context"
	"reflect"
	"sync"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// internals is a System as package extension sees it. Its exported methods implement the functions
// of that package, which has the documentation.
type internals struct{ *System }

// refInternals is likewise an ActorRef.
type refInternals struct{ c *core }

// internalsOf implements actorhook.Internals.
func internalsOf(v any) any {
	switch v := v.(type) {
	case *System:
		return internals{v}
	case traced:
		return v.internals()
	}
	return refInternals{v.(AnyRef).target()} // nothing else is asked for
}

// refTo implements actorhook.SetRef.
func refTo(ref, made any) { *ref.(bindable).pointer() = made.(*core) } // by its contract

func init() {
	actorhook.Internals, actorhook.SetRef, actorhook.Marked = internalsOf, refTo, markedAs
	actorhook.WillBlock = willBlock
	actorhook.Priority = func(option any) any {
		box, _ := option.(Mailbox)
		return box.priority
	}
	actorhook.AdmissionCheck = func(check func() error) any {
		return spawnOption(func(c *spawnConfig) { c.admission = check })
	}
	actorhook.SpawnContext = func(ctx context.Context) any { return spawnOption(func(c *spawnConfig) { c.ctx = ctx }) }
	actorhook.DeadLetterReasons = deadLetterReasons
	actorhook.KeptDeadLetters = func(system any) []actorhook.DeadLetter { return system.(*System).deadLetters.newest() } // by its contract
	actorhook.Binder = func(system any) interface{ Bind(v reflect.Value) error } {
		s, _ := system.(*System)
		return binder{s}
	}
}

// SetTransport implements extension.WithTransport.
func (s internals) SetTransport(address string, t interface {
	Send(s *System, target actorhook.Target, msg any)
},
) {
	s.address, s.transport = address, t
	s.patient, _ = t.(patientTransport)
}

// SetEncoding implements extension.WithEncoding.
func (s internals) SetEncoding(failed func(recipient string, msg any, err error)) {
	s.encoding = nil
	if failed != nil {
		s.encoding = &encoding{failed}
	}
}

// Values returns what package extension keeps in the system.
func (s internals) Values() *sync.Map { return &s.extensions }

// Framework implements extension.Framework.
func (s internals) Framework() Spawner { return &s.system.core }

// Sent implements extension.Sent.
func (s internals) Sent() uint64 { return s.sent.Load() }

// CheckFields implements extension.CheckFields.
func (s internals) CheckFields(v any) error { return s.checkFields(v) }

// DeadLetter implements extension.DeadLetter.
func (s internals) DeadLetter(recipient string, msg any, reason error) {
	s.deadLetterOf(recipient, msg, reason, 4) //nolint:errcheck // likewise
}

// MaxMessage implements extension.MaxMessage.
func (s internals) MaxMessage() int {
	if t, ok := s.transport.(interface{ MaxMessage() int }); ok {
		return t.MaxMessage()
	}
	return 0
}

// CheckSize implements extension.CheckSize.
func (s internals) CheckSize(of string, bytes int) error {
	if t, ok := s.transport.(interface {
		CheckSize(of string, bytes int) error
	}); ok {
		return t.CheckSize(of, bytes)
	}
	return nil
}

// Owns implements extension.Owns.
func (s internals) Owns(ref AnyRef) bool {
	c := ref.target()
	return c != nil && c.sys == s.System && !c.isRemote()
}

// AfterEnd implements extension.AfterEnd.
func (s internals) AfterEnd(ref AnyRef, f func()) (cancel func()) { return ref.target().onEnd(f) }

// EndAsks implements extension.EndAsks.
func (s internals) EndAsks(address string, which func(uid, ask uint64) bool) {
	s.endAsks(address, which, gone(address))
}

// NextNumber implements extension.NextNumber.
func (s internals) NextNumber() uint64 { return s.nextUID() }

// NodeGone implements extension.NodeGone.
func (s internals) NodeGone(address string, of func(uid uint64) bool) { s.remotes.setGone(address, of) }

// NodeBack implements extension.NodeBack.
func (s internals) NodeBack(address string) { s.remotes.setGone(address, nil) }

// ownerKey is the key under which the context of an actor has its core.
type ownerKey struct{}

// ownerOf returns the actor to which ctx belongs, or nil.
func ownerOf(ctx context.Context) *core {
	c, _ := ctx.Value(ownerKey{}).(*core)
	return c
}

// willBlock implements extension.WillBlock.
func willBlock(ctx context.Context) {
	if c := ownerOf(ctx); c != nil {
		c.sys.scheduler.handoff(c)
	}
}
