package singleton

import (
	"fmt"

	"go.uber.org/zap"
)

// checkFit notes whether this node's manager is of the singleton that the others have
// under its name, and gives up what waits when it is not. As long as an instance runs here
// what is told goes to that.
func (m *manager[M]) checkFit() {
	what, whose, misfit := m.machine.topo.misfit(m.machine.set.signature)
	switch {
	case !misfit && m.mismatch != nil:
		m.mismatch = nil
		m.ctx.Log().Info("singleton fits again")
	case misfit && (m.mismatch == nil || m.status.Mismatch != what):
		m.mismatch = fmt.Errorf("%w: %s, on %s; give the same type and options on every node", ErrMismatch, what, whose.ID.Address)
		m.ctx.Log().Error("singleton does not fit, and takes no part", zap.Error(m.mismatch))
	}
	m.status.Mismatch = what
	if m.refusing() {
		for _, w := range m.mail.drain() {
			m.deadLetter(w.Message, m.mismatch)
		}
	}
}

// refusing reports whether what is told here is for another singleton.
func (m *manager[M]) refusing() bool { return m.mismatch != nil && !m.machine.alive }
