//go:build unix

package processes

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/persistence"
)

// A blow is the command of the contested actor: store a word, and reply with its number.
type blow struct {
	word string
	at   actor.ActorRef[int]
}

// fight runs the actor, and claims it again whenever the other process has taken it.
func fight(j persistence.Journal, id string) error {
	system := actor.NewSystem("fighter")
	remember := func(n int, _ string) int { return n + 1 }
	strike := func(_ *actor.Context[blow], n int, b blow) persistence.Effect[string] {
		return persistence.ThenReply(persistence.Persist(b.word), b.at, n+1)
	}
	ctx := process.UntilEOF()
	for n := 0; ctx.Err() == nil; n++ {
		entity := actor.Spawn(system, persistence.New(id, j, 0, remember, strike, persistence.Options[blow, string, int]{SnapshotEvery: 50}), "")
		for round := 0; ctx.Err() == nil; round++ {
			if !hit(entity, fmt.Sprintf("%d-%d-%d", os.Getpid(), n, round)) {
				break
			}
		}
		rest(ctx, time.Millisecond, 10*time.Millisecond)
	}
	return system.Shutdown(context.Background())
}

// hit sends word to entity. It prints and reports whether entity has stored it.
func hit(entity actor.ActorRef[blow], word string) bool {
	at, err := actor.AskTimeout(context.Background(), entity, time.Minute, func(r actor.ActorRef[int]) blow { return blow{word, r} })
	if err == nil {
		Say("%d %s", at, word)
	}
	return err == nil
}
