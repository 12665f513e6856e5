package postgres_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/codec"
)

func TestKeysOfSubjectsAreKeptUntilTheyAreDestroyed(t *testing.T) {
	s := pgtest.Shared(t)
	s.SQL(t, "CREATE SCHEMA subject_keys")
	ann, bob := codec.SubjectID("ann"), codec.SubjectID("bob")
	key, other := bytes.Repeat([]byte{1}, codec.KeySize), bytes.Repeat([]byte{2}, codec.KeySize)
	one := codec.NewSQLKeys(inSchema(t, s, "postgres", "subject_keys"))
	two := codec.NewSQLKeys(inSchema(t, s, "postgres", "subject_keys"))
	got, err := one.Find(t.Context(), ann)
	require.NoError(t, err)
	require.Nil(t, got)
	for _, add := range []struct {
		keys codec.Keys
		key  []byte
	}{{one, key}, {two, other}} {
		got, err = add.keys.Add(t.Context(), ann, add.key)
		require.NoError(t, err)
		require.Equal(t, key, got, "the first one stays")
	}
	_, err = two.Add(t.Context(), bob, other)
	require.NoError(t, err)
	require.NoError(t, one.Destroy(t.Context(), ann))
	_, err = two.Find(t.Context(), ann)
	require.ErrorIs(t, err, codec.ErrForgotten)
	_, err = two.Add(t.Context(), ann, key)
	require.ErrorIs(t, err, codec.ErrForgotten)
	got, err = one.Find(t.Context(), bob)
	require.NoError(t, err)
	require.Equal(t, other, got)
}
