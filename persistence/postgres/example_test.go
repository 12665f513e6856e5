package postgres_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/postgres"
)

// Visited is an event, Visit the command that causes it and asks for the number of visits.
type (
	Visited struct{}
	Visit   struct{ ReplyTo actor.ActorRef[int] }
)

func init() { actor.RegisterType[Visited]("postgres_test.visited") }

func onVisited(visits int, _ Visited) int { return visits + 1 }

func onVisit(_ *actor.Context[Visit], visits int, msg Visit) persistence.Effect[Visited] {
	return persistence.ThenReply(persistence.Persist(Visited{}), msg.ReplyTo, visits+1)
}

// countVisits continues counting where an earlier call ended, on any machine.
func countVisits(ctx context.Context, out io.Writer, url string) error {
	journal, err := postgres.Open(ctx, url)
	if err != nil {
		return err
	}
	defer journal.Close()

	system := actor.NewSystem("example")
	defer system.Shutdown(ctx) //nolint:errcheck // nothing is left to do about it

	counter := actor.Spawn(system, behaviors.EventSourced("visitors", journal, 0, onVisited, onVisit), "visitors")
	for range 2 {
		visits, err := actor.Ask(ctx, counter, func(replyTo actor.ActorRef[int]) Visit { return Visit{replyTo} })
		if err != nil {
			return err
		}
		if _, err = fmt.Fprintln(out, "visit", visits); err != nil {
			return err
		}
	}
	return nil
}

// The events of this actor are in a database, so it continues its work wherever it is started.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := countVisits(ctx, os.Stdout, os.Getenv("DATABASE_URL")); err != nil {
		fmt.Println(err)
	}
}
