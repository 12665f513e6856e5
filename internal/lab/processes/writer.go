//go:build unix

package processes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Opener opens the journal at a place: a list of arguments whose meaning the store defines.
type Opener func(place []string) (persistence.Journal, error)

// Writers returns roles that write to a journal, and the roles in more. The arguments of a writer
// are the place of the journal and a persistence id. The roles are:
//
//   - "claim once" claims the id, prints "epoch" and its number, and ends.
//   - "append on request" claims it, prints "ready", and appends an event for each line that it
//     reads.
//   - "append for ever" claims it and appends one event after the other.
//   - "storm" does the same, and claims again when it has been fenced.
//   - "fight" does the same with an event-sourced actor: see [Fight].
//   - "run out of files" appends, claims and reads while it can open no files, and afterwards.
//
// A role that appends prints the payload of each event once it is acknowledged. All payloads
// differ.
func Writers(open Opener, more map[string]Role) map[string]Role {
	roles := map[string]Role{}
	for name, write := range map[string]func(j persistence.Journal, id string) error{
		"claim once":        claimOnce,
		"append on request": appendOnRequest,
		"append for ever":   appendForEver,
		"storm":             storm,
		"fight":             fight,
		"run out of files":  runOutOfFiles,
	} {
		roles[name] = func(args []string) error {
			j, err := open(args[:len(args)-1])
			if err != nil {
				return err
			}
			return errors.Join(write(j, args[len(args)-1]), j.Close())
		}
	}
	maps.Copy(roles, more)
	return roles
}

// An owner is a claim, with its journal.
type owner struct {
	j     persistence.Journal
	id    string
	claim journal.Claim
}

func own(j persistence.Journal, id string) (*owner, error) {
	o := &owner{j: j, id: id}
	return o, o.reclaim()
}

func (o *owner) reclaim() (err error) {
	o.claim, err = o.j.Claim(context.Background(), o.id, journal.WriterID{byte(os.Getpid())}, journal.Bounds{})
	return err
}

// append stores one event with a unique payload, and prints the payload.
func (o *owner) append() error {
	seq := o.claim.LastSeq + 1
	payload := fmt.Sprintf("%d of %d", seq, os.Getpid())
	err := o.j.Append(context.Background(), []journal.AppendRequest{{
		ID: o.id, Epoch: o.claim.Epoch, Prev: o.claim.LastSeq,
		Records: []journal.Record{{Seq: seq, Epoch: o.claim.Epoch, Type: "event", Tags: []string{"red"}, Payload: []byte(payload)}},
	}})[0]
	if err == nil {
		o.claim.LastSeq = seq
		Say("%s", payload)
	}
	return err
}

func claimOnce(j persistence.Journal, id string) error {
	o, err := own(j, id)
	if err == nil {
		Say("epoch %d", o.claim.Epoch)
	}
	return err
}

func appendOnRequest(j persistence.Journal, id string) error {
	o, err := own(j, id)
	if err != nil {
		return err
	}
	Say("ready")
	return o.appendPerLine(bufio.NewScanner(os.Stdin))
}

// appendPerLine appends an event for each line of in. It prints the error of one that fails.
func (o *owner) appendPerLine(in *bufio.Scanner) error {
	for in.Scan() {
		if err := o.append(); err != nil {
			Say("%v", err)
		}
	}
	return in.Err()
}

func appendForEver(j persistence.Journal, id string) error {
	o, err := own(j, id)
	for ctx := process.UntilEOF(); err == nil && ctx.Err() == nil; {
		err = o.append()
	}
	return err
}

func storm(j persistence.Journal, id string) error {
	o, err := own(j, id)
	for ctx := process.UntilEOF(); err == nil && ctx.Err() == nil; {
		if err = o.append(); errors.Is(err, persistence.ErrFenced) {
			err = o.reclaim()
		}
	}
	return err
}
