package main

import (
	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
)

// A Command is a message to an account. The account replies with a Receipt when the event is
// stored.
type Command interface{ command() }

type (
	// Deposit adds money.
	Deposit struct {
		Cents   int64
		ReplyTo actor.ActorRef[Receipt]
	}

	// Withdraw takes money, if the balance allows it.
	Withdraw struct {
		Cents   int64
		ReplyTo actor.ActorRef[Receipt]
	}

	// A Receipt is the reply to Deposit and Withdraw.
	Receipt struct {
		Balance int64
		Refusal string // why nothing happened, or ""
	}
)

func (Deposit) command()  {}
func (Withdraw) command() {}

// An Event is a change of an account.
type Event interface{ event() }

type (
	// Deposited is the event of a Deposit.
	Deposited struct{ Cents int64 }

	// Withdrawn is the event of a Withdraw that is not refused.
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

// account returns the behavior of the account with this id.
func account(id string, journal persistence.Journal) actor.Behavior[Command] {
	return behaviors.EventSourced(id, journal, Account{}, apply, decide,
		persistence.Options[Command, Event, Account]{
			SnapshotEvery: 3,
			Tags:          func(Account, Event) []string { return []string{"account"} },
		})
}

// apply returns the account after the event.
func apply(a Account, event Event) Account {
	switch event := event.(type) {
	case Deposited:
		a.Balance += event.Cents
	case Withdrawn:
		a.Balance -= event.Cents
	}
	return a
}

// decide handles a command.
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
