// Package pause waits for a time that the end of a context cuts short.
package pause

import (
	"context"
	"time"

	"github.com/understudy-go/understudy/internal/bubble"
)

// For waits for d. If ctx ends first, it returns ctx.Err() at once.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(bubble.Wait(d))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
