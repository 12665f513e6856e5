package main

import (
	"testing"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

func TestAnOrderKeepsItsNumber(t *testing.T) {
	ref := actor.Spawn(testkit.NewSystem(t), numbers(journal.NewMemory()), "numbers")
	for i, order := range []string{"apples", "pears", "apples"} {
		number := testkit.Ask(t.Context(), t, ref, func(replyTo actor.ActorRef[int]) Request {
			return Request{Order: order, ReplyTo: replyTo}
		})
		if want := []int{1, 2, 1}[i]; number != want {
			t.Errorf("%s got number %d, want %d", order, number, want)
		}
	}
}
