package singleton

import (
	"context"
	"errors"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// A takeover is the span in which this node takes the singleton over. It has the same bounds as the
// metric understudy_singleton_handover_seconds, but ends early when the instance fails to start.
type takeover struct {
	of     handover.Takeover // that has a span, or has had one
	within context.Context   // with the span; nil without one
	end    func(error)       // nil without a span
}

// The errors of spans that end without an instance.
var (
	errNotTaken   = errors.New("singleton: another node is to host it, or this node cannot")
	errEndedEarly = errors.New("singleton: the instance has ended before it took messages")
)

// traceTakeover begins the span when this node begins to ask for permission. It ends the span when
// this node is no longer to host.
func (m *manager) traceTakeover() {
	now := m.absence.Takeover()
	if m.takeover.of == now {
		return
	}
	m.takeover.finish(errNotTaken)
	m.takeover.of = now
	if now.Since.IsZero() {
		return
	}
	within, end := extension.StartRootSpan(m.ctx, m.ctx.System(), nil, extension.Span{
		Operation: "singleton.handover", Path: func() string { return m.path }, Details: func() []extension.Detail { return m.describe(now) },
	})
	if end != nil {
		m.takeover.within, m.takeover.end = within, end
	}
}

func (m *manager) describe(t handover.Takeover) []extension.Detail {
	all := []extension.Detail{
		{Name: "singleton.name", Value: m.name},
		{Name: "singleton.reason", Value: string(t.Reason)},
		{Name: "singleton.to", Value: m.machine.Topology().Self.Address},
	}
	if t.From.Address != "" {
		all = append(all, extension.Detail{Name: "singleton.from", Value: t.From.Address})
	}
	if g := m.machine.Instance().Generation; m.instance.running && g != (tenure.Generation{}) {
		all = append(all, extension.Detail{Name: "singleton.generation", Value: g.String()})
	}
	return all
}

func (t *takeover) around(ctx context.Context) context.Context {
	if t.within != nil {
		return t.within
	}
	return ctx
}

func (t *takeover) finish(err error) {
	if t.end != nil {
		t.end(err)
		t.within, t.end = nil, nil
	}
}
