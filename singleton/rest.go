package singleton

import (
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// rest notes that the instance has ended because its persistence id was forgotten, and refuses the
// messages that wait. The next message starts an instance, because the id may be revived.
func rest(m *manager, why error) {
	if !m.forgotten {
		m.ctx.Log().Warn("singleton's persistence id was forgotten; only a message starts it again", zap.Error(why))
	}
	m.forgotten = true
	own, others := m.relay.GiveUp()
	for _, w := range own {
		m.deadLetter(w.Message, why)
	}
	for _, w := range others {
		if d, ok := (outlet{m}).decoded(w.Described); ok {
			m.deadLetter(d.Message, why)
		}
	}
	m.report()
}

// messageWaits starts an instance that rests.
func messageWaits(m *manager) {
	if handover.Rests(m.machine) {
		m.happened(handover.MessageWaits{})
	}
}
