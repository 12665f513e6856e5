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
	one := Claim{Path: "/user/one/instance", ID: "one"}
	ctx := With(t.Context(), Holder{Claimed: func(c Claim, epoch uint64) {
		if epoch > 0 {
			require.Equal(t, one, c)
		}
		epochs = append(epochs, epoch)
	}})
	Fenced(ctx)
	Claimed(ctx, one, 7)
	require.Equal(t, []uint64{0, 7}, epochs)
}

func TestTheBoundsAreThoseOfTheHolder(t *testing.T) {
	for _, ctx := range []context.Context{t.Context(), With(t.Context(), Holder{})} {
		least, below, err := Bounds(ctx, Claim{})
		require.NoError(t, err)
		require.Zero(t, least)
		require.Zero(t, below)
	}
	none, one := errors.New("none"), Claim{Path: "/user/one/instance", ID: "one"}
	least, below, err := Bounds(With(t.Context(), Holder{Bounds: func(c Claim) (least, below uint64, err error) {
		require.Equal(t, one, c)
		return 7, 8, none
	}}), one)
	require.Equal(t, none, err)
	require.Equal(t, []uint64{7, 8}, []uint64{least, below})
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
