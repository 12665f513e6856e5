package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/fxamacker/cbor/v2"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// perCart is how many events a cart of many has.
const perCart = 100

// writeMany stores that many events without actors, a hundred for each cart.
func writeMany(file, events string) error {
	n, err := strconv.Atoi(events)
	if err != nil {
		return err
	}
	j, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return err
	}
	ctx := context.Background()
	for cart := range n / perCart {
		id := fmt.Sprint("cart|many-", cart)
		claim, err := j.Claim(ctx, id, journal.WriterID{}, journal.Bounds{})
		if err != nil {
			return err
		}
		req := journal.AppendRequest{ID: id, Epoch: claim.Epoch}
		for seq := range uint64(perCart) {
			payload, err := mode.Marshal(map[string]any{"Item": fmt.Sprint("thing ", seq%20), "Count": seq % 3, "Price": 100 + seq, "Size": 1, "Color": "red", "Weight": 0.5, "Tags": []string{"new"}, "Note": nil, "Coupon": ""})
			if err != nil {
				return err
			}
			req.Records = append(req.Records, journal.Record{Seq: seq + 1, Epoch: claim.Epoch, Type: "shop.added", Payload: payload})
		}
		if err := errors.Join(j.Append(ctx, []journal.AppendRequest{req})...); err != nil {
			return err
		}
	}
	return j.Close()
}
