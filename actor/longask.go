package actor

import (
	"time"

	"go.uber.org/zap"
)

// longAsk is after what time an ask without a deadline is logged, once.
const longAsk = 30 * time.Second

func (s *System) warnOfLongAsk(asked *core) {
	if s.longAsks.admit(time.Now()) {
		s.log.Warn("ask without a deadline has no reply yet: give its context one",
			zap.String("asked", asked.fullPath()), zap.Duration("waited", longAsk))
	}
}
