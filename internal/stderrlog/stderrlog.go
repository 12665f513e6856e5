// Package stderrlog makes the logger of systems and nodes that are given none.
package stderrlog

import (
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// New returns a logger that writes warnings and errors to the standard error of the process,
// a line each, with the place in the code that logs, and the stack of a panic where there is one.
func New() *zap.Logger {
	format := zap.NewProductionEncoderConfig()
	format.EncodeTime = zapcore.ISO8601TimeEncoder
	format.EncodeLevel = zapcore.CapitalLevelEncoder
	format.EncodeDuration = zapcore.StringDurationEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(format), zapcore.Lock(os.Stderr), zapcore.WarnLevel)
	return zap.New(core, zap.AddCaller())
}
