package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func TestNumbersGoOnWhenTheHostIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		c := clustertest.Start(t, 3) // n1, n2 and n3
		refs := make(map[string]actor.ActorRef[Request])
		for _, node := range c.Nodes() {
			refs[node.View().Self.Name] = actor.Spawn(node, numbers(store), "numbers")
		}
		number := func(node, order string) int {
			number, err := actor.AskTimeout(t.Context(), refs[node], time.Minute, func(replyTo actor.ActorRef[int]) Request {
				return Request{Order: order, ReplyTo: replyTo}
			})
			if err != nil {
				t.Fatal(err)
			}
			return number
		}
		if got := number("n1", "apples"); got != 1 {
			t.Errorf("apples got %d", got)
		}
		time.Sleep(time.Second) // all nodes know by now that the singleton has a journal

		begin := time.Now()
		c.Kill("n1") // the oldest node hosts the singleton
		if got := number("n2", "pears"); got != 2 {
			t.Errorf("pears got %d", got)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("the failover took %v", took)
		}
		if got := number("n3", "apples"); got != 1 {
			t.Errorf("apples got another number, %d", got)
		}
	})
}
