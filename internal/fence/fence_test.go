package fence

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMarkReachesWhoeverAskedForIt(t *testing.T) {
	Mark(t.Context()) // nobody has
	marks := 0
	Mark(With(t.Context(), func() { marks++ }))
	require.Equal(t, 1, marks)
}

func TestTheErrorIsFinalAlsoWhenItIsWrapped(t *testing.T) {
	err := fmt.Errorf("append: %w", ErrFenced)
	require.ErrorIs(t, err, ErrFenced)
	var final interface{ Final() bool }
	require.True(t, errors.As(err, &final) && final.Final())
}
