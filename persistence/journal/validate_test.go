package journal_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

func TestIDsAreNonEmptyUTF8WithoutNUL(t *testing.T) {
	for _, id := range []string{"x", "a b", "*", ".", "..", "/", `\`, "größe", strings.Repeat("ü", 127), "\x7f"} {
		require.NoError(t, journal.ValidateID(id), "%q", id)
	}
	for _, id := range []string{"", "a\x00b", "\xff", strings.Repeat("x", journal.MaxIDLength+1)} {
		require.ErrorIs(t, journal.ValidateID(id), journal.ErrInvalid, "%q", id)
	}
}

func TestMalformedRequestsAreInvalid(t *testing.T) {
	valid := func() journal.AppendRequest {
		return journal.AppendRequest{ID: "x", Epoch: 2, Prev: 4, Records: []journal.Record{
			{Seq: 5, Epoch: 2, Type: "e", Tags: []string{"t", "t"}, Meta: map[string]string{"": ""}},
			{Seq: 6, Epoch: 2},
		}}
	}
	fine := valid()
	require.NoError(t, fine.Validate())

	for name, spoil := range map[string]func(*journal.AppendRequest){
		"bad id":             func(r *journal.AppendRequest) { r.ID = "" },
		"no records":         func(r *journal.AppendRequest) { r.Records = nil },
		"epoch zero":         func(r *journal.AppendRequest) { r.Epoch = 0 },
		"epoch too great":    func(r *journal.AppendRequest) { r.Epoch = math.MaxUint64 },
		"epochs differ":      func(r *journal.AppendRequest) { r.Records[1].Epoch = 1 },
		"gap":                func(r *journal.AppendRequest) { r.Records[1].Seq = 7 },
		"does not follow":    func(r *journal.AppendRequest) { r.Prev = 3 },
		"numbers run out":    func(r *journal.AppendRequest) { r.Prev = math.MaxInt64 - 1 },
		"type with NUL":      func(r *journal.AppendRequest) { r.Records[0].Type = "\x00" },
		"type is not UTF-8":  func(r *journal.AppendRequest) { r.Records[0].Type = "\xc3" },
		"empty tag":          func(r *journal.AppendRequest) { r.Records[0].Tags[1] = "" },
		"tag is not UTF-8":   func(r *journal.AppendRequest) { r.Records[0].Tags[1] = "\xc3" },
		"metadata with NUL":  func(r *journal.AppendRequest) { r.Records[0].Meta["k"] = "a\x00" },
		"metadata not UTF-8": func(r *journal.AppendRequest) { r.Records[0].Meta["\xc3"] = "\xa9" },
	} {
		req := valid()
		spoil(&req)
		require.ErrorIs(t, req.Validate(), journal.ErrInvalid, name)
	}
}

func TestMalformedSnapshotsAreInvalid(t *testing.T) {
	fine := journal.Snapshot{Seq: 1, Epoch: 1, Type: "state"}
	require.NoError(t, fine.Validate("x"))
	require.ErrorIs(t, fine.Validate(""), journal.ErrInvalid)
	for name, s := range map[string]journal.Snapshot{
		"before the first event": {Epoch: 1},
		"epoch zero":             {Seq: 1},
		"type is not UTF-8":      {Seq: 1, Epoch: 1, Type: "\xc3"},
	} {
		require.ErrorIs(t, s.Validate("x"), journal.ErrInvalid, name)
	}
}
