package guardedlease_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/guardedlease"
)

// A broken lease panics in every method.
type broken struct{}

func (broken) Acquire(context.Context) (bool, error)              { panic("Acquire") }
func (broken) AcquireAbove(context.Context, uint64) (bool, error) { panic("AcquireAbove") }
func (broken) Release(context.Context) error                      { panic("Release") }
func (broken) Valid() bool                                        { panic("Valid") }
func (broken) Token() uint64                                      { panic("Token") }
func (broken) OnLost(func(error)) (cancel func())                 { panic("OnLost") }
func (broken) String() string                                     { panic("String") }
func (broken) Reserve(string) (func(), error)                     { panic("Reserve") }
func (broken) ObserveRenewals(func(time.Duration))                { panic("ObserveRenewals") }
func (broken) Abandon()                                           { panic("Abandon") }

func TestALeaseThatPanicsIsNotHeld(t *testing.T) {
	l := guardedlease.New(broken{})
	var panicked *guard.PanicError
	held, err := l.Acquire(t.Context())
	require.False(t, held)
	require.ErrorAs(t, err, &panicked)
	held, err = l.AcquireAbove(t.Context(), 1)
	require.False(t, held)
	require.ErrorAs(t, err, &panicked)
	require.ErrorAs(t, l.Release(t.Context()), &panicked)
	_, err = l.Reserve("a manager")
	require.ErrorAs(t, err, &panicked)
	require.False(t, l.Valid())
	require.Zero(t, l.Token())
	require.Equal(t, "a guardedlease_test.broken", l.String())
	l.OnLost(func(error) {})()
	l.ObserveRenewals(func(time.Duration) {})
	l.Abandon()
}
