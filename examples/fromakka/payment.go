package main

import (
	"context"
	"errors"
	"time"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// A Command is what a sealed trait is in Scala.
type Command interface{ command() }

type (
	// Pay asks for a payment.
	Pay struct {
		Cents   int
		ReplyTo actor.ActorRef[Outcome]
	}

	charged struct {
		pay     Pay
		receipt string
		err     error
	}
	tooLate struct{}
)

func (Pay) command()     {}
func (charged) command() {}
func (tooLate) command() {}

// An Outcome answers Pay.
type Outcome struct {
	Receipt string // "" if the payment was refused
	Reason  string
}

// Registered types can travel between nodes. Akka has serialization-bindings for this.
func init() {
	actor.RegisterType[Pay]("cashier.pay")
	actor.RegisterType[Outcome]("cashier.outcome")
}

// A Gateway charges a card.
type Gateway func(ctx context.Context, cents int) (receipt string, err error)

var errDeclined = errors.New("the card was declined")

// cashier takes one payment at a time, and gives each of them a second.
//
//	Behaviors.withStash(10) { stash => Behaviors.withTimers { timers => idle(...) } }
func cashier(charge Gateway) actor.Behavior[Command] {
	return behaviors.WithStash(10, func(stash *actor.Stash[Command]) actor.Behavior[Command] {
		return (&till{charge: charge, stash: stash}).idle()
	})
}

// A till is what the methods below close over, as the parameters of a Scala class are.
type till struct {
	charge Gateway
	stash  *actor.Stash[Command]
}

// idle begins the next payment.
//
//	Behaviors.receive { case (context, pay: Pay) =>
//	  context.pipeToSelf(gateway.charge(pay.cents))(result => Charged(pay, result))
//	  timers.startSingleTimer(TooLate, 1.second)
//	  charging(pay)
//	}
func (t *till) idle() actor.Behavior[Command] {
	return behaviors.Receive(func(ctx *actor.Context[Command], msg Command) actor.Behavior[Command] {
		pay, ok := msg.(Pay)
		if !ok {
			return behaviors.Same // the result of a payment that came too late
		}
		actor.PipeToSelf(ctx,
			func(ctx context.Context) (string, error) { return t.charge(ctx, pay.Cents) },
			func(receipt string, err error) Command { return charged{pay, receipt, err} })
		ctx.After("late", time.Second, tooLate{})
		return t.charging(pay)
	})
}

// charging waits for the result. Further payments are stashed.
//
//	case Charged(`pay`, result) => timers.cancel(TooLate); settled(pay, result)
//	case TooLate                => settled(pay, Failure(...))
//	case other                  => stash.stash(other); Behaviors.same
func (t *till) charging(pay Pay) actor.Behavior[Command] {
	return behaviors.Receive(func(ctx *actor.Context[Command], msg Command) actor.Behavior[Command] {
		switch msg := msg.(type) {
		case charged:
			if msg.pay != pay {
				return behaviors.Same // of an earlier payment
			}
			ctx.CancelTimer("late")
			return t.settled(pay, msg.receipt, msg.err)
		case tooLate:
			return t.settled(pay, "", errors.New("the bank did not answer in time"))
		}
		return t.stash.Stash(msg) // and stay as it is
	})
}

// settled replies, and goes on with the payments that were stashed.
//
//	stash.unstashAll(idle)
func (t *till) settled(pay Pay, receipt string, err error) actor.Behavior[Command] {
	if err != nil {
		pay.ReplyTo.Tell(Outcome{Reason: err.Error()})
	} else {
		pay.ReplyTo.Tell(Outcome{Receipt: receipt})
	}
	return t.stash.UnstashAll(t.idle())
}
