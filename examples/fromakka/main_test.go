package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/testkit"
)

func Example() {
	main()
	// Output:
	// 250: receipt for 250 cents
	// 1: the bank did not answer in time
	// 20000: the card was declined
	// 999: receipt for 999 cents
}

// ManualTime is not needed: in a bubble of testing/synctest, time is virtual.
func TestPaymentsWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system := testkit.NewSystem(t)
		slow := func(context.Context, int) (string, error) {
			time.Sleep(600 * time.Millisecond)
			return "paid", nil
		}
		ref := actor.Spawn(system, cashier(slow), "cashier")
		probe := testkit.NewProbe[Outcome](t, system)
		begin := time.Now()
		for range 3 {
			ref.Tell(Pay{Cents: 1, ReplyTo: probe.Ref()})
		}
		for range 3 {
			probe.Expect(Outcome{Receipt: "paid"})
		}
		require.Equal(t, 1800*time.Millisecond, time.Since(begin))
	})
}
