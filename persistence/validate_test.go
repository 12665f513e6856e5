package persistence_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

func TestIDsAreNonEmptyUTF8WithoutNUL(t *testing.T) {
	for _, id := range []string{"x", "a b", "*", ".", "..", "/", `\`, "größe", strings.Repeat("ü", 127), "\x7f"} {
		require.NoError(t, persistence.ValidateID(id), "%q", id)
	}
	for _, id := range []string{"", "a\x00b", "\xff", strings.Repeat("x", 256)} {
		require.ErrorIs(t, persistence.ValidateID(id), persistence.ErrInvalid, "%q", id)
	}
}

func TestMalformedRequestsAreInvalid(t *testing.T) {
	valid := func() persistence.AppendRequest {
		return persistence.AppendRequest{ID: "x", Epoch: 2, Prev: 4, Records: []persistence.Record{
			{Seq: 5, Epoch: 2, Type: "e", Tags: []string{"t", "t"}, Meta: map[string]string{"": ""}},
			{Seq: 6, Epoch: 2},
		}}
	}
	fine := valid()
	require.NoError(t, fine.Validate())

	for name, spoil := range map[string]func(*persistence.AppendRequest){
		"bad id":             func(r *persistence.AppendRequest) { r.ID = "" },
		"no records":         func(r *persistence.AppendRequest) { r.Records = nil },
		"epoch zero":         func(r *persistence.AppendRequest) { r.Epoch = 0 },
		"epoch too great":    func(r *persistence.AppendRequest) { r.Epoch = math.MaxUint64 },
		"epochs differ":      func(r *persistence.AppendRequest) { r.Records[1].Epoch = 1 },
		"gap":                func(r *persistence.AppendRequest) { r.Records[1].Seq = 7 },
		"does not follow":    func(r *persistence.AppendRequest) { r.Prev = 3 },
		"numbers run out":    func(r *persistence.AppendRequest) { r.Prev = math.MaxInt64 - 1 },
		"type with NUL":      func(r *persistence.AppendRequest) { r.Records[0].Type = "\x00" },
		"type is not UTF-8":  func(r *persistence.AppendRequest) { r.Records[0].Type = "\xc3" },
		"empty tag":          func(r *persistence.AppendRequest) { r.Records[0].Tags[1] = "" },
		"tag is not UTF-8":   func(r *persistence.AppendRequest) { r.Records[0].Tags[1] = "\xc3" },
		"metadata with NUL":  func(r *persistence.AppendRequest) { r.Records[0].Meta["k"] = "a\x00" },
		"metadata not UTF-8": func(r *persistence.AppendRequest) { r.Records[0].Meta["\xc3"] = "\xa9" },
	} {
		req := valid()
		spoil(&req)
		require.ErrorIs(t, req.Validate(), persistence.ErrInvalid, name)
	}
}

func TestMalformedSnapshotsAreInvalid(t *testing.T) {
	fine := persistence.Snapshot{Seq: 1, Epoch: 1, Type: "state"}
	require.NoError(t, fine.Validate("x"))
	require.ErrorIs(t, fine.Validate(""), persistence.ErrInvalid)
	for name, s := range map[string]persistence.Snapshot{
		"before the first event": {Epoch: 1},
		"epoch zero":             {Seq: 1},
		"type is not UTF-8":      {Seq: 1, Epoch: 1, Type: "\xc3"},
	} {
		require.ErrorIs(t, s.Validate("x"), persistence.ErrInvalid, name)
	}
}
