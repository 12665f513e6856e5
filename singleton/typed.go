package singleton

import (
	"context"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// A typedContext is the Context of a manager with its instance. It alone knows the type of the
// messages, so everything else of the manager is compiled once, whatever singletons a program has.
type typedContext interface {
	notify(handle func()) (notify func())
	inbox(handle func(msg any)) actor.ActorRef[any]
	self() actor.AnyRef
	metadata() extension.Metadata                        // of the message that the manager handles
	unpack(p extension.Payload) (content any, err error) // the content is a message unless there is an error

	// spawn starts an instance, which calls begins when it takes messages. Without begins, it
	// starts an actor that begins like an instance, and then ends.
	spawn(under actor.Spawner, name string, begins func(), opts []actor.SpawnOption) actor.AnyRef
	tell(d handover.Told)                          // to the instance that was spawned last
	deliver(d handover.Told, done func(err error)) // likewise, see [extension.DeliverWith]
	tellLast(msg any)                              // tells the instance to stop
	straight(on bool)                              // whether messages go there without the manager
}

type managerContext interface {
	context.Context
	System() *actor.System
	Log() *zap.Logger
	Defer(f func())
	Watch(ref actor.AnyRef)
	Stop(child actor.AnyRef)
	Drain(child actor.AnyRef)
}

type typedContextOf[M any] struct {
	ctx      *actor.Context[M]
	factory  func() actor.Behavior[M]
	onTell   actor.MessageHandler[M] // the manager's own
	instance actor.ActorRef[M]
	open     bool // messages go straight to it
}

func manage[M any](ctx *actor.Context[M], next *actor.Next[M], factory func() actor.Behavior[M], set settings) {
	s := &typedContextOf[M]{ctx: ctx, factory: factory}
	m := newManager(ctx, s, ctx.Self(), set)
	s.onTell = func(ctx *actor.Context[M], msg M) actor.Behavior[M] {
		if s.open { // this message came here nevertheless, for instance from a bounded mailbox
			extension.TellNoWaitWith(s.instance, msg, extension.MetadataOf(ctx))
		} else {
			m.take(m.described(msg))
		}
		return nil
	}
	next.OnMessage = s.onTell
	next.OnSignal = func(_ *actor.Context[M], sig actor.Signal) actor.Behavior[M] {
		m.onSignal(sig)
		return nil
	}
}

func (s *typedContextOf[M]) notify(handle func()) (notify func()) {
	return s.ctx.Notify(func() actor.Behavior[M] {
		handle()
		return nil
	})
}

func (s *typedContextOf[M]) inbox(handle func(msg any)) actor.ActorRef[any] {
	return extension.Handle(s.ctx, func(msg any) actor.Behavior[M] {
		handle(msg)
		return nil
	})
}

func (s *typedContextOf[M]) self() actor.AnyRef { return s.ctx.Self() }

func (s *typedContextOf[M]) metadata() extension.Metadata { return extension.MetadataOf(s.ctx) }

func (s *typedContextOf[M]) unpack(p extension.Payload) (content any, err error) {
	_, content, err = extension.UnpackMessage[M](s.ctx.System(), p)
	return content, err
}

func (s *typedContextOf[M]) spawn(under actor.Spawner, name string, begins func(), opts []actor.SpawnOption) actor.AnyRef {
	first := func(ctx *actor.Context[M], next *actor.Next[M]) {
		var begun func()
		if begins != nil {
			begun = ctx.Notify(func() actor.Behavior[M] {
				begins()
				return nil
			})
		}
		if b := s.factory(); b != nil {
			b(ctx, next)
		}
		if begun == nil {
			next.Stop()
			return
		}
		begun() // delivered only when the start succeeds
	}
	if begins == nil {
		return actor.Spawn(under, first, name, opts...)
	}
	s.instance = actor.Spawn(s.ctx, first, name, append(opts, extension.PassedOptions(s.ctx)...)...)
	return s.instance
}

func (s *typedContextOf[M]) tell(d handover.Told) {
	msg, _ := d.Message.(M) // or a nil one of an interface
	extension.TellNoWaitWith(s.instance, msg, d.Metadata)
}

func (s *typedContextOf[M]) tellLast(msg any) {
	m, _ := msg.(M)
	extension.TellBeyondBound(s.instance, m)
}

func (s *typedContextOf[M]) deliver(d handover.Told, done func(err error)) {
	msg, _ := d.Message.(M)
	extension.DeliverWith(s.instance, msg, d.Metadata, done)
}

func (s *typedContextOf[M]) straight(on bool) {
	s.open = on
	var to actor.ActorRef[M]
	if on {
		to = s.instance
	}
	extension.Bypass(s.ctx, s.onTell, to)
}
