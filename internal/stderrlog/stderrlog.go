// Package stderrlog makes the default logger of systems and nodes.
package stderrlog

import (
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// New returns a logger that writes warnings and errors to standard error, one line each, with the
// calling line of code and, for a panic, its stack.
func New() *zap.Logger {
	format := zap.NewProductionEncoderConfig()
	format.EncodeTime = zapcore.ISO8601TimeEncoder
	format.EncodeLevel = zapcore.CapitalLevelEncoder
	format.EncodeDuration = zapcore.StringDurationEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(format), zapcore.Lock(os.Stderr), zapcore.WarnLevel)
	return zap.New(core, zap.AddCaller())
}
