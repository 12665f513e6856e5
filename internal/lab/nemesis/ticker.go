//go:build linux

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/singleton/lease"
)

const tickerName = "ticker"

// tick is how often the ticker says that it runs.
const tick = 50 * time.Millisecond

type tickMsg struct{}

// ticker is the unfenced singleton. It writes its generation and the time into a file of its
// process, and nothing prevents a replaced instance from writing. It writes the last time when it
// ends.
func ticker(out *os.File) actor.Behavior[tickMsg] {
	return tickerWith(out, true)
}

// leased is a ticker that holds a lease, without which it handles no messages. It does not report
// its end, because PostStop may run after the lease has ended.
func leased(out *os.File, l lease.Lease) actor.Behavior[tickMsg] {
	return tickerWith(out, false, singleton.WithLease(l), singleton.LeaseRetry(leaseRetry))
}

func tickerWith(out *os.File, end bool, opts ...singleton.Option) actor.Behavior[tickMsg] {
	return behaviors.Singleton(func() actor.Behavior[tickMsg] {
		return behaviors.Setup(func(ctx *actor.Context[tickMsg]) actor.Behavior[tickMsg] {
			generation := singleton.GenerationOf(ctx)
			say := func() error {
				_, err := fmt.Fprintf(out, "%d %d %d\n", clock(), generation.Term, generation.Seq)
				return err
			}
			ctx.Every("tick", tick, tickMsg{})
			_ = say() // the next one fails, if it cannot
			return behaviors.Receive(func(ctx *actor.Context[tickMsg], _ tickMsg) actor.Behavior[tickMsg] {
				if err := say(); err != nil {
					return ctx.Fail(err)
				}
				return behaviors.Same
			}).OnSignal(func(_ *actor.Context[tickMsg], sig actor.Signal) actor.Behavior[tickMsg] {
				if _, ended := sig.(actor.PostStop); ended && end {
					_ = say() // nothing comes after it
				}
				return behaviors.Same
			})
		})
	}, opts...)
}
