package persistence

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/pause"
)

type retrier struct {
	backoff actor.Backoff
	limit   time.Duration // from the first failure on
	log     *zap.Logger
}

func (r retrier) do(ctx context.Context, f func() error) error {
	var since time.Time
	for n := 0; ; n++ {
		err := f()
		if !isTransient(err) {
			return err
		}
		if n == 0 {
			since = time.Now()
		}
		delay := r.backoff.Delay(n)
		if delay == 0 || time.Since(since)+delay > r.limit || pause.For(ctx, delay) != nil {
			return err
		}
		r.log.Warn("journal failed; trying again", zap.Error(err), zap.Int("failures", n+1))
	}
}
