package main

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// A StockMsg is a message to the stock.
type StockMsg interface{ stockMsg() }

type (
	// Reserve takes goods out of the stock. The reply is how many are left.
	Reserve struct {
		Goods   string
		Count   int
		ReplyTo actor.ActorRef[actor.Result[int]]
	}

	// Count asks how many there are.
	Count struct {
		Goods   string
		ReplyTo actor.ActorRef[actor.Result[int]]
	}
)

func (Reserve) stockMsg() {}
func (Count) stockMsg()   {}

var (
	errUnknown = errors.New("no such goods")
	errTooFew  = errors.New("too few are left")
)

// stock returns the behavior of a stock that has this many of each kind of goods. No lock guards
// the map: an actor handles one message at a time.
func stock(left map[string]int) actor.Behavior[StockMsg] {
	return behaviors.Receive(func(_ *actor.Context[StockMsg], msg StockMsg) actor.Behavior[StockMsg] {
		switch msg := msg.(type) {
		case Reserve:
			msg.ReplyTo.Tell(reserve(left, msg))
		case Count:
			if n, ok := left[msg.Goods]; ok {
				msg.ReplyTo.Tell(actor.Result[int]{Value: n})
			} else {
				msg.ReplyTo.Tell(actor.Result[int]{Err: errUnknown})
			}
		}
		return behaviors.Same
	})
}

func reserve(left map[string]int, r Reserve) actor.Result[int] {
	n, ok := left[r.Goods]
	switch {
	case !ok:
		return actor.Result[int]{Err: errUnknown}
	case r.Count > n:
		return actor.Result[int]{Value: n, Err: errTooFew}
	}
	left[r.Goods] = n - r.Count
	return actor.Result[int]{Value: n - r.Count}
}
