package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

func TestANewerSchemaIsRefused(t *testing.T) {
	s := pgtest.Shared(t)
	j := open(t, s)
	alter(t, s, j.schema, "UPDATE understudy_journal SET version = 99")
	_, err := postgres.Open(t.Context(), j.url, postgres.Schema(j.schema))
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorContains(t, err, fmt.Sprintf("it has version 99, this program knows %d", postgres.Versions))
	s.SQL(t, postgres.DDL(j.schema))
	require.Equal(t, "99", s.SQL(t, `SELECT version FROM "`+j.schema+`".understudy_journal`), "the statements of an older version change nothing")
}

func TestTheStatementsOfDDLMayBeRunByAnother(t *testing.T) {
	s := pgtest.Shared(t)
	schema := `it's "a" \ schema`
	for range 2 {
		s.SQL(t, postgres.DDL(schema))
	}
	j := openAt(t, s.URL(), postgres.Schema(schema))
	o, err := own(j, "x")
	require.NoError(t, err)
	require.NoError(t, appendOne(t, j, o.next()))
	require.Len(t, payloads(t, j, "x"), 1)
}

// Once the tables exist, a role needs only the documented privileges.
func TestARoleNeedsTheDocumentedPrivilegesOnly(t *testing.T) {
	s := pgtest.Shared(t)
	j := open(t, s)
	s.SQL(t, "CREATE ROLE app LOGIN")
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() { pgtest.SQL(ctx, t, s.URL(), "DROP OWNED BY app; DROP ROLE app") })
	url := "postgres://app@" + s.Addr() + "/postgres"
	_, err := postgres.Open(t.Context(), url, postgres.Schema(j.schema))
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorContains(t, err, "lacks a privilege")

	schema := `"` + j.schema + `"`
	s.SQL(t, "GRANT USAGE ON SCHEMA "+schema+" TO app; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+schema+" TO app")
	limited := openAt(t, url, postgres.Schema(j.schema))
	o, err := own(limited, "x")
	require.NoError(t, err)
	require.NoError(t, appendOne(t, limited, o.next()))
	require.NoError(t, limited.SaveSnapshot(t.Context(), "x", journal.Snapshot{Seq: 1, Epoch: o.claim.Epoch}))
	require.NoError(t, limited.DeleteTo(t.Context(), "x", o.claim.Epoch, 1))
	require.NoError(t, limited.DeleteSnapshots(t.Context(), "x", o.claim.Epoch, 1, 0))
	for _, err := range limited.Events(t.Context(), journal.Query{}, "") {
		require.NoError(t, err)
	}
}
