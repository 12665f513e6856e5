package fence

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAClaimReachesWhoeverAskedForIt(t *testing.T) {
	Fenced(t.Context()) // nobody has
	var epochs []uint64
	ctx := With(t.Context(), Holder{Claimed: func(epoch uint64) { epochs = append(epochs, epoch) }})
	Fenced(ctx)
	Claimed(ctx, 7)
	require.Equal(t, []uint64{0, 7}, epochs)
}

func TestTheFloorIsThatOfTheHolder(t *testing.T) {
	for _, ctx := range []context.Context{t.Context(), With(t.Context(), Holder{})} {
		floor, err := Floor(ctx)
		require.NoError(t, err)
		require.Zero(t, floor)
	}
	none := errors.New("none")
	floor, err := Floor(With(t.Context(), Holder{Floor: func() (uint64, error) { return 7, none }}))
	require.Equal(t, none, err)
	require.Equal(t, uint64(7), floor)
}

func TestAnInstanceIsKnownByItsPath(t *testing.T) {
	require.False(t, IsInstance(t.Context(), ""))
	ctx := With(t.Context(), Holder{Path: "/user/one/instance"})
	require.True(t, IsInstance(ctx, "/user/one/instance"))
	require.False(t, IsInstance(ctx, "/user/one/instance/child"))
}

func TestTheErrorIsFinalAlsoWhenItIsWrapped(t *testing.T) {
	err := fmt.Errorf("append: %w", ErrFenced)
	require.ErrorIs(t, err, ErrFenced)
	var final interface{ Final() bool }
	require.True(t, errors.As(err, &final) && final.Final())
}
