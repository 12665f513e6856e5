package main

import (
	"errors"
	"slices"

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

	// A Fund is the state.
	Fund struct {
		Left   int
		Recent []Payment // the last ones, whose keys are known
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
	actor.RegisterError("fund.other-use", errOtherUse)
}

// fund returns the behavior of the fund, which one node of the cluster hosts.
func fund(journal persistence.Journal) actor.Behavior[FundMsg] {
	return behaviors.Singleton(func() actor.Behavior[FundMsg] {
		return behaviors.EventSourced("fund", journal, Fund{Left: 1_000_000}, onPayment, onMsg)
	})
}

func onPayment(f Fund, p Payment) Fund {
	forgotten := max(0, len(f.Recent)+1-remembered)
	return Fund{Left: p.Left, Recent: append(f.Recent[forgotten:], p)}
}

func onMsg(_ *actor.Context[FundMsg], f Fund, msg FundMsg) persistence.Effect[Payment] {
	switch msg := msg.(type) {
	case Pay:
		return pay(f, msg)
	case Balance:
		return persistence.Reply[Payment](msg.ReplyTo, actor.Result[int]{Value: f.Left})
	}
	return persistence.Unhandled
}

// pay replies when the payment is in the journal. A payment that is there already gets the reply
// that it got the first time.
func pay(f Fund, msg Pay) persistence.Effect[Payment] {
	known := slices.IndexFunc(f.Recent, func(p Payment) bool { return p.Key == msg.Key })
	switch {
	case known >= 0 && f.Recent[known].Cents != msg.Cents:
		return persistence.Reply[Payment](msg.ReplyTo, actor.Result[Payment]{Err: errOtherUse})
	case known >= 0:
		return persistence.Reply[Payment](msg.ReplyTo, actor.Result[Payment]{Value: f.Recent[known]})
	case msg.Cents > f.Left:
		return persistence.Reply[Payment](msg.ReplyTo, actor.Result[Payment]{Err: errTooLittle})
	}
	p := Payment{Key: msg.Key, Cents: msg.Cents, Left: f.Left - msg.Cents}
	return persistence.ThenReply(persistence.Persist(p), msg.ReplyTo, actor.Result[Payment]{Value: p})
}
