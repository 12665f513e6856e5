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

type refInternals struct{ c *core }

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
	actorhook.WillBlock, actorhook.ExplainWaiting = willBlock, explainWaiting
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
	actorhook.KeepMessages = func(most int) any { return Option(func(s *System) { s.deadLetters.kept.messages.most = most }) }
	actorhook.Resend = func(system any, number uint64, to func(string) string) (actorhook.Resent, error) {
		return resendLetter(system.(*System), number, to) // by its contract
	}
	actorhook.Discard = func(system any, number uint64) error { return system.(*System).deadLetters.discard(number) } // by its contract
	actorhook.Binder = func(system any) interface{ Bind(v reflect.Value) error } {
		s, _ := system.(*System)
		return binder{s}
	}
}

func (s internals) SetTransport(address string, t interface {
	Send(s *System, target actorhook.Target, msg any)
},
) {
	s.address, s.transport = address, t
	s.patient, _ = t.(patientTransport)
}

func (s internals) SetEncoding(failed func(recipient string, msg any, err error)) {
	s.encoding = nil
	if failed != nil {
		s.encoding = &encoding{failed}
	}
}

func (s internals) Values() *sync.Map { return &s.extensions }

func (s internals) Framework() Spawner { return &s.system.core }

func (s internals) Sent() uint64 { return s.sent.Load() }

func (s internals) CheckFields(v any) error { return s.checkFields(v) }

func (s internals) DeadLetter(recipient string, msg any, reason error) {
	s.deadLetterOf(recipient, msg, reason, 4) //nolint:errcheck // likewise
}

func (s internals) MaxMessage() int {
	if t, ok := s.transport.(interface{ MaxMessage() int }); ok {
		return t.MaxMessage()
	}
	return 0
}

func (s internals) CheckSize(of string, bytes int) error {
	if t, ok := s.transport.(interface {
		CheckSize(of string, bytes int) error
	}); ok {
		return t.CheckSize(of, bytes)
	}
	return nil
}

func (s internals) Owns(ref AnyRef) bool {
	c := ref.target()
	return c != nil && c.sys == s.System && !c.isRemote()
}

func (s internals) AfterEnd(ref AnyRef, f func()) (cancel func()) { return ref.target().onEnd(f) }

func (s internals) EndAsks(address string, which func(uid, ask uint64) bool) {
	s.endAsks(address, which, gone(address))
}

func (s internals) NextNumber() uint64 { return s.nextUID() }

func (s internals) NodeGone(address string, of func(uid uint64) bool) { s.remotes.setGone(address, of) }

func (s internals) NodeBack(address string) { s.remotes.setGone(address, nil) }

type ownerKey struct{}

func ownerOf(ctx context.Context) *core {
	c, _ := ctx.Value(ownerKey{}).(*core)
	return c
}

func willBlock(ctx context.Context) {
	if c := ownerOf(ctx); c != nil {
		c.sys.scheduler.handoff(c)
	}
}
