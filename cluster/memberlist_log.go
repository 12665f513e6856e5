package cluster

import (
	"log" //nolint:depguard // memberlist takes no other logger

	"go.uber.org/zap"
)

// memberlistLog gives memberlist a logger. What it has to say concerns gossip only, so
// all of it is for debugging.
func memberlistLog(z *zap.Logger) *log.Logger {
	l, err := zap.NewStdLogAt(z.Named("memberlist"), zap.DebugLevel)
	if err != nil {
		return zap.NewStdLog(zap.NewNop())
	}
	return l
}
