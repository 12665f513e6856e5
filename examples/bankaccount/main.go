// Command bankaccount runs event-sourced accounts with snapshots and typed replies, and a
// projection of their events into a table. It runs twice on the same files: the second run
// continues where the first one ended.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

func main() {
	dir, err := os.MkdirTemp("", "bankaccount")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for day := range 2 {
		fmt.Println("day", day+1)
		if err := business(dir); err != nil {
			log.Fatal(err)
		}
	}
}

// business runs one day at the bank whose files are in dir.
func business(dir string) (err error) {
	ctx := context.Background()
	journal, err := sqlite.Open(filepath.Join(dir, "journal.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	balances, err := openBalances(filepath.Join(dir, "balances.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, balances.db.Close()) }()
	system := actor.NewSystem("bank")
	defer func() { err = errors.Join(err, system.Shutdown(ctx)) }()

	ada := actor.Spawn(system, account("ada", journal), "ada")
	bob := actor.Spawn(system, account("bob", journal), "bob")
	table := actor.Spawn(system, behaviors.Singleton(balances.projection(journal).Behavior), "balances") // without a cluster it runs here

	err = errors.Join(
		move(ctx, "ada gets 100.00", ada, func(r actor.ActorRef[Receipt]) Command { return Deposit{100_00, r} }),
		move(ctx, "ada pays 30.50", ada, func(r actor.ActorRef[Receipt]) Command { return Withdraw{30_50, r} }),
		move(ctx, "bob gets 30.50", bob, func(r actor.ActorRef[Receipt]) Command { return Deposit{30_50, r} }),
		move(ctx, "bob pays 70.00", bob, func(r actor.ActorRef[Receipt]) Command { return Withdraw{70_00, r} }),
	)
	if err != nil {
		return err
	}
	// After CatchUp, every event acknowledged so far is in the table.
	_, err = actor.Ask(ctx, table, func(r actor.ActorRef[projection.Status]) projection.Command { return projection.CatchUp{ReplyTo: r} })
	if err != nil {
		return err
	}
	return balances.print(ctx)
}

// move sends a command to an account and prints the reply.
func move(ctx context.Context, what string, account actor.ActorRef[Command], cmd func(actor.ActorRef[Receipt]) Command) error {
	receipt, err := actor.Ask(ctx, account, cmd)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if receipt.Refusal != "" {
		fmt.Printf("  %s: refused, %s\n", what, receipt.Refusal)
		return nil
	}
	fmt.Printf("  %s: the balance is %d.%02d\n", what, receipt.Balance/100, receipt.Balance%100)
	return nil
}
