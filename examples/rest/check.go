package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// checkFile is check for the journal in a file.
func checkFile(ctx context.Context, path string, all []*customer) (err error) {
	journal, err := sqlite.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	return check(ctx, journal, all)
}

// check compares the journal with what customers were told: what was acknowledged is there once,
// what was refused is not there, and nothing is there twice.
func check(ctx context.Context, journal persistence.Journal, all []*customer) error {
	made, err := payments(ctx, journal)
	if err != nil {
		return err
	}
	acknowledged, unknown := 0, 0
	for _, c := range all {
		switch n := made[c.key]; {
		case n > 1, c.acknowledged && n != 1:
			return fmt.Errorf("payment %s is in the journal %d times; acknowledged: %v", c.key, n, c.acknowledged)
		case n == 1 && !c.perhaps:
			return fmt.Errorf("payment %s was refused, and is in the journal", c.key)
		case c.acknowledged:
			acknowledged++
		case n == 1:
			unknown++
		}
	}
	fmt.Printf("Of %d payments %d were acknowledged. Each of them is in the journal exactly once. The others were given up after %d tries; %d of them are in the journal.\n",
		len(all), acknowledged, tries, unknown)
	return nil
}

// payments returns how often each key is in the journal.
func payments(ctx context.Context, journal persistence.Journal) (made map[string]int, err error) {
	made = map[string]int{}
	for record, err := range journal.Read(ctx, "fund", 1, math.MaxUint64) {
		if err != nil {
			return nil, err
		}
		event, err := extension.Unpack(nil, extension.Payload{Type: record.Type, Data: record.Payload})
		if err != nil {
			return nil, err
		}
		p, ok := event.(Payment)
		if !ok {
			return nil, fmt.Errorf("event %d is a %T", record.Seq, event)
		}
		made[p.Key]++
	}
	return made, nil
}
