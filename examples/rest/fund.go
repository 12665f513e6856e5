package main

import (
	"errors"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
)

// A FundMsg is a message to the fund.
type FundMsg interface{ fundMsg() }

type (
	// Pay takes money out of the fund, once for each key, however often it is asked.
	Pay struct {
		Key     string
		Cents   int
		ReplyTo actor.ActorRef[actor.Result[Payment]]
	}

	// Balance asks how many cents are left.
	Balance struct {
		ReplyTo actor.ActorRef[actor.Result[int]]
	}

	// A Payment is the event that the journal stores, and the reply to Pay.
	Payment struct {
		Key   string `json:"key"`
		Cents int    `json:"cents"`
		Left  int    `json:"left"` // in the fund
	}
)

func (Pay) fundMsg()     {}
func (Balance) fundMsg() {}

// remembered is how many of the last keys the fund knows. A client that repeats a payment after
// more others pays twice.
const remembered = 10_000

var (
	errTooLittle = errors.New("too little is left")
	errOtherUse  = errors.New("the key was used for another payment")
)

func init() {
	actor.RegisterType[Pay]("fund.pay")
	actor.RegisterType[Balance]("fund.balance")
	actor.RegisterType[Payment]("fund.payment")
	actor.RegisterError("fund.too-little", errTooLittle)
}

// fund returns the behavior of the fund, which one node of the cluster hosts.
func fund(journal persistence.Journal) actor.Behavior[FundMsg] {
	return behaviors.Singleton(func() actor.Behavior[FundMsg] {
		return behaviors.EventSourced("fund", journal, 1_000_000, onPayment, onMsg,
			persistence.Options[FundMsg, Payment, int]{OnceKeys: remembered})
	})
}

func onPayment(_ int, p Payment) int { return p.Left }

func onMsg(_ *actor.Context[FundMsg], left int, msg FundMsg) persistence.Effect[Payment] {
	switch msg := msg.(type) {
	case Pay:
		return persistence.Once(msg.Key, pay(left, msg))
	case Balance:
		return persistence.Reply[Payment](msg.ReplyTo, actor.Result[int]{Value: left})
	}
	return persistence.Unhandled
}

// pay replies when the payment is in the journal.
func pay(left int, msg Pay) persistence.Effect[Payment] {
	if msg.Cents > left {
		return persistence.Reply[Payment](msg.ReplyTo, actor.Result[Payment]{Err: errTooLittle})
	}
	p := Payment{Key: msg.Key, Cents: msg.Cents, Left: left - msg.Cents}
	return persistence.ThenReply(persistence.Persist(p), msg.ReplyTo, actor.Result[Payment]{Value: p})
}
