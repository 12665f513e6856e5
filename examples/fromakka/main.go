// Command fromakka is an actor as people write it with Akka Typed, moved to Understudy: a state
// machine with a stash, a timer, and the result of a Future. Above each function is what it is in
// Scala.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/understudy-go/understudy/actor"
)

// bank is a gateway that declines large payments, and never answers to one of a cent.
func bank(ctx context.Context, cents int) (string, error) {
	switch {
	case cents == 1:
		<-ctx.Done()
		return "", ctx.Err()
	case cents > 10_000:
		return "", errDeclined
	}
	return fmt.Sprintf("receipt for %d cents", cents), nil
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	system := actor.NewSystem("shop")
	ref := actor.Spawn(system, cashier(bank), "cashier")
	for _, cents := range []int{250, 1, 20_000, 999} {
		outcome, err := actor.Ask(ctx, ref, func(replyTo actor.ActorRef[Outcome]) Command {
			return Pay{Cents: cents, ReplyTo: replyTo}
		})
		if err != nil {
			return err
		}
		fmt.Printf("%d: %s%s\n", cents, outcome.Receipt, outcome.Reason)
	}
	return system.Shutdown(ctx)
}
