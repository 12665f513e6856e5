package behaviors_test

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Settings are stored as their latest state, without a history.
type Settings struct {
	Theme string
	Lines int
}

// A Save replaces the settings, if they are still at the revision that it names.
type Save struct {
	Seen     uint64
	Settings Settings
	ReplyTo  actor.ActorRef[string]
}

func init() { actor.RegisterType[Settings]("example.settings") }

func save(_ *actor.Context[Save], s persistence.State[Settings], msg Save) persistence.StateEffect[Settings] {
	if msg.Seen != s.Revision {
		msg.ReplyTo.Tell(fmt.Sprintf("is at revision %d: %+v", s.Revision, s.Value))
		return persistence.None
	}
	return persistence.ThenReply(persistence.PersistState(msg.Settings), msg.ReplyTo, "saved")
}

// The settings of a user outlive the actor that keeps them.
func ExampleDurableState() {
	store := journal.NewMemory()
	for seen := range uint64(2) {
		system := actor.NewSystem("example")
		settings := actor.Spawn(system, behaviors.DurableState("settings-ann", store, Settings{Theme: "light"}, save), "ann")
		for _, theme := range []string{"dark", "blue"} {
			reply, err := actor.Ask(context.Background(), settings, func(r actor.ActorRef[string]) Save {
				return Save{Seen: seen, Settings: Settings{Theme: theme, Lines: 40}, ReplyTo: r}
			})
			fmt.Println(reply, err)
		}
		shutdown(system)
	}
	// Output:
	// saved <nil>
	// is at revision 1: {Theme:dark Lines:40} <nil>
	// saved <nil>
	// is at revision 2: {Theme:dark Lines:40} <nil>
}
