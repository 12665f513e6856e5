package transport

import (
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/guard"
)

// A panic in a function of the user must not end the process: in Admit and AdmitMessages it refuses
// the peer, elsewhere it is logged.
func (c *Config) guardHooks() {
	c.Admit, c.AdmitMessages = guardAdmit(c.Admit), guardAdmit(c.AdmitMessages)
	log, control, failed := c.Logger, c.Control, c.DialFailed
	c.Control = func(from remote.NodeID, data []byte) {
		if err := guard.Do(func() { control(from, data) }); err != nil {
			log.Error("Config.Control has panicked", zap.Stringer("peer", from), zap.Error(err))
		}
	}
	c.DialFailed = func(addr string, why error) {
		if err := guard.Do(func() { failed(addr, why) }); err != nil {
			log.Error("Config.DialFailed has panicked", zap.String("peer", addr), zap.Error(err))
		}
	}
}

func guardAdmit(admit func(remote.NodeID) error) func(remote.NodeID) error {
	return func(p remote.NodeID) error { return guard.Run(func() error { return admit(p) }) }
}
