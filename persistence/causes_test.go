package persistence_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence"
)

func TestARejectionIsFinalForTheMessageUnlessItIsAConflict(t *testing.T) {
	for cause, final := range map[error]bool{
		actor.ErrNotSerializable: true, persistence.ErrTooLarge: true, persistence.ErrInvalid: true, persistence.ErrConflict: false,
	} {
		err := fmt.Errorf("wrapped: %w", &persistence.RejectedError{ID: "a", Err: cause})
		require.Equal(t, final, errors.Is(err, tenure.ErrRejected), "%v", cause)
		require.ErrorIs(t, err, cause)
		require.NotErrorIs(t, err, tenure.ErrStore)
	}
}
