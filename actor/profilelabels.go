package actor

import (
	"context"
	"runtime/pprof"
)

// WithProfileLabels gives the goroutine in which a handler runs the label "kind", for profiles of
// package runtime/pprof: the kind of the actor, see [WithKind], or "understudy" for actors of the
// framework. Goroutines that the handler starts inherit the label. By default there are no labels.
// A label takes a few nanoseconds, each time when a goroutine continues with an actor of another
// kind.
//
// A handler that uses pprof.Do must pass its own Context, which has the label too.
func WithProfileLabels() Option {
	return func(s *System) { s.scheduler.labels.set = labelGoroutine }
}

type profileLabels struct {
	set func(*kind) // nil for no labels
}

// The goroutine of r is the calling one. nil is no label.
func (l profileLabels) give(r *runner, k *kind) {
	if l.set != nil && r.labelled != k {
		l.renew(r, k)
	}
}

// The labels of the goroutine are not known, because it has inherited them.
func (l profileLabels) renew(r *runner, k *kind) {
	if l.set != nil {
		r.labelled = k
		l.set(k)
	}
}

func labelGoroutine(k *kind) {
	if k == nil {
		pprof.SetGoroutineLabels(context.Background())
		return
	}
	pprof.SetGoroutineLabels(k.profileLabel())
}

// Package pprof takes labels in a context, which is empty otherwise.
type profileLabel struct{ context.Context }

func (k *kind) profileLabel() *profileLabel {
	if l := k.label.Load(); l != nil {
		return l
	}
	k.label.CompareAndSwap(nil, &profileLabel{pprof.WithLabels(context.Background(), pprof.Labels("kind", k.name))})
	return k.label.Load()
}

func (l *lifeContext) profileLabel() *profileLabel {
	if l.sys.scheduler.labels.set == nil {
		return nil
	}
	if of, ok := l.impl.(*cell); ok {
		return of.tally.counts.of.profileLabel()
	}
	return nil
}
