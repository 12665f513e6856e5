package main

import (
	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
)

// A Command is what an account understands. It replies to each with a Receipt, once what
// has happened is stored.
type Command interface{ command() }

type (
	// Deposit pays in.
	Deposit struct {
		Cents   int64
		ReplyTo actor.ActorRef[Receipt]
	}

	// Withdraw pays out, if the balance allows it.
	Withdraw struct {
		Cents   int64
		ReplyTo actor.ActorRef[Receipt]
	}

	// A Receipt is the reply to both.
	Receipt struct {
		Balance int64
		Refusal string // why nothing has happened, or ""
	}
)

func (Deposit) command()  {}
func (Withdraw) command() {}

// An Event is what has happened to an account.
type Event interface{ event() }

type (
	// Deposited is what a Deposit leads to.
	Deposited struct{ Cents int64 }

	// Withdrawn is what a Withdraw leads to that is not refused.
	Withdrawn struct{ Cents int64 }
)

func (Deposited) event() {}
func (Withdrawn) event() {}

// Account is the state of an account.
type Account struct{ Balance int64 }

// The names are stored with the events and snapshots, and never change.
func init() {
	actor.RegisterType[Deposited]("bank.deposited")
	actor.RegisterType[Withdrawn]("bank.withdrawn")
	actor.RegisterType[Account]("bank.account")
}

// account is the behavior of the account with that id.
func account(id string, journal persistence.Journal) actor.Behavior[Command] {
	return behaviors.EventSourced(id, journal, Account{}, apply, decide,
		persistence.Options[Command, Event, Account]{
			SnapshotEvery: 3,
			Tags:          func(Account, Event) []string { return []string{"account"} },
		})
}

// apply says what an event makes of an account.
func apply(a Account, event Event) Account {
	switch event := event.(type) {
	case Deposited:
		a.Balance += event.Cents
	case Withdrawn:
		a.Balance -= event.Cents
	}
	return a
}

// decide says what happens when an account is asked for something.
func decide(_ *actor.Context[Command], a Account, cmd Command) persistence.Effect[Event] {
	switch cmd := cmd.(type) {
	case Deposit:
		effect := persistence.Persist[Event](Deposited{cmd.Cents})
		return persistence.ThenReply(effect, cmd.ReplyTo, Receipt{Balance: a.Balance + cmd.Cents})
	case Withdraw:
		if cmd.Cents > a.Balance {
			cmd.ReplyTo.Tell(Receipt{Balance: a.Balance, Refusal: "not enough money"})
			return persistence.None
		}
		effect := persistence.Persist[Event](Withdrawn{cmd.Cents})
		return persistence.ThenReply(effect, cmd.ReplyTo, Receipt{Balance: a.Balance - cmd.Cents})
	}
	return persistence.Unhandled
}
