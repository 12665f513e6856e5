package actor

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"go.uber.org/zap"
)

// ShutdownOnSignal waits for SIGINT or SIGTERM, for the end of ctx, or until somebody else
// shuts the system down. Then it shuts it down and returns the error of [System.Shutdown],
// which has as much time as its phases. Once a signal has come the next one does what it
// does to programs that do not handle it: it ends the process at once, unsuccessfully.
//
// It is the last thing that the main function of a server does; only who calls it has
// signals handled.
func (s *System) ShutdownOnSignal(ctx context.Context) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	select {
	case sig := <-signals:
		signal.Stop(signals)
		s.log.Info("shutting down", zap.Stringer("signal", sig))
	case <-ctx.Done():
	case <-s.shutdown.begins:
	}
	return s.Shutdown(context.WithoutCancel(ctx))
}
