package projection_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
)

func TestAProjectionHearsOfForgottenIDs(t *testing.T) {
	j, model := journal.NewMemory(), newSum()
	sums := projection.New("sums", j, journal.Query{Tag: "red"}, projection.AtLeastOnce(&projection.MemoryOffsets{},
		func(ctx context.Context, e projection.Event[event]) error {
			if e.Forgotten {
				require.Nil(t, e.Event)
				require.False(t, e.Time.IsZero())
				delete(model.byID, e.ID)
			}
			return model.handle(ctx, e)
		}), projection.Forgotten())
	x, y := newWriter(t, j, "x", "red"), newWriter(t, j, "y", "red")
	x.append(added{1})
	y.append(added{2})
	catchUpFully(t, sums)
	require.Equal(t, map[string]int{"x": 1, "y": 2}, model.byID)

	x.append(added{10})
	require.NoError(t, persistence.Forget(t.Context(), j, "x"))
	y.append(added{20})
	require.NoError(t, persistence.Revive(t.Context(), j, "x"))
	newWriter(t, j, "x", "red").append(added{7})
	catchUpFully(t, sums)
	require.Equal(t, []string{"x/1", "y/1", "x/0", "y/2", "x/1"}, model.handled())
	require.Equal(t, map[string]int{"x": 7, "y": 22}, model.byID)
}

func TestAProjectionThatDoesNotListenPassesOverForgottenIDs(t *testing.T) {
	j, model := journal.NewMemory(), newSum()
	sums := projection.New("sums", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{}, model.handle))
	newWriter(t, j, "x").append(added{1})
	require.NoError(t, persistence.Forget(t.Context(), j, "x"))
	newWriter(t, j, "y").append(added{2})
	catchUpFully(t, sums)
	require.Equal(t, []string{"y/1"}, model.handled())
}

func TestAHeldIDIsReleasedWhenItIsForgotten(t *testing.T) {
	j, model := journal.NewMemory(), newSum()
	offsets := &projection.MemoryOffsets{}
	start := func() *projection.Projection[event] {
		return projection.New("sums", j, journal.Query{}, projection.AtLeastOnce(offsets, model.handle), projection.Forgotten())
	}
	x := newWriter(t, j, "x")
	x.append(added{1}, nil, added{2}) // the second is of an unknown type
	_, err := start().CatchUp(t.Context())
	require.Error(t, err)
	require.NoError(t, persistence.Forget(t.Context(), j, "x"))
	require.NoError(t, persistence.Revive(t.Context(), j, "x"))
	newWriter(t, j, "x").append(added{5})
	sums := start()
	catchUpFully(t, sums)
	require.Equal(t, []string{"x/1", "x/0", "x/1"}, model.handled())
	catchUpFully(t, start())
	require.Len(t, model.handled(), 3)
}

func catchUpFully(t *testing.T, p *projection.Projection[event]) {
	t.Helper()
	_, err := p.CatchUp(t.Context())
	require.NoError(t, err)
}
