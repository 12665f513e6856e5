package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

// readRows returns what an opponent has stored, in order. Its nodes must have ended.
func readRows(ctx context.Context, o opponent, url string) ([]row, error) {
	if o.ledger == bySingleton {
		return journalRows(ctx, url)
	}
	return tableRows(ctx, url)
}

func tableRows(ctx context.Context, url string) ([]row, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	found, err := conn.Query(ctx, "SELECT number, request, leader, at FROM ledger ORDER BY place")
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(found pgx.CollectableRow) (r row, err error) {
		return r, found.Scan(&r.Number, &r.request, &r.Leader, &r.at)
	})
}

func journalRows(ctx context.Context, url string) (rows []row, err error) {
	j, err := postgres.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	claim, err := j.Claim(ctx, ledgerID, journal.WriterID{}, journal.Bounds{})
	if err != nil {
		return nil, err
	}
	for record, err := range j.Read(ctx, ledgerID, 1, claim.LastSeq) {
		if err != nil {
			return nil, err
		}
		event, err := extension.Unpack(nil, extension.Payload{Type: record.Type, Data: record.Payload})
		if err != nil {
			return nil, err
		}
		e, ok := event.(Issued)
		if !ok {
			return nil, fmt.Errorf("event %d is a %T", record.Seq, event)
		}
		rows = append(rows, row{request: e.Request, issued: issued{Number: e.Number, Leader: e.Leader}, at: record.Time})
	}
	return rows, nil
}
