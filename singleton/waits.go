package singleton

import (
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// instanceWaits reports that the journal keeps the instance from going on.
type instanceWaits struct {
	extension.Quiet
	why error
}

// toldWhy passes on why an actor at that path waits. Any goroutine may call it.
func toldWhy(m *manager, path string, why error) {
	if path == m.path+"/"+instanceName {
		m.inbox.Tell(instanceWaits{why: why})
	}
}

// causeOf returns what keeps the instance here from starting, or why it has failed before.
func causeOf(m *manager) error {
	switch {
	case m.instance.begun || m.status.Phase != Host:
		return nil
	case m.obstacle == nil && m.status.RestartsInARow > 0:
		return m.status.LastError
	}
	return m.obstacle
}

// onWaits tells the asks of all messages that wait here what keeps the instance from starting.
func onWaits(m *manager, why error) {
	if !m.instance.running || m.instance.begun || m.obstacle != nil && m.obstacle.Error() == why.Error() {
		return
	}
	m.obstacle = why
	m.report()
	explain := func(w handover.Waiting) {
		if w.Metadata.Request() != nil {
			m.explain(w.Message)
		}
	}
	m.relay.Each(explain)
	if m.sequenced.out != nil {
		for w := range m.sequenced.out.All() {
			explain(*w)
			w.Explained = true
		}
	}
}
