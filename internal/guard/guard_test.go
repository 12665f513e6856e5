package guard

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

type spiteful struct{}

func (spiteful) Error() string  { panic("Error") }
func (spiteful) Is(error) bool  { panic("Is") }
func (spiteful) As(any) bool    { panic("As") }
func (spiteful) Unwrap() error  { panic("Unwrap") }
func (spiteful) String() string { panic("String") }

var errOrdinary = errors.New("ordinary")

func TestAPanicIsAnErrorWithItsStack(t *testing.T) {
	err := Run(func() error { panic(errOrdinary) })
	var panicked *PanicError
	require.ErrorAs(t, err, &panicked)
	require.ErrorIs(t, err, errOrdinary)
	require.Contains(t, string(panicked.Stack), "TestAPanicIsAnErrorWithItsStack")
	require.EqualError(t, err, "panic: ordinary")
	require.ErrorIs(t, Run(func() error { return errOrdinary }), errOrdinary)
	require.NoError(t, Do(func() {}))
	v, err := Value(func() int { return 3 })
	require.NoError(t, err)
	require.Equal(t, 3, v)
}

type shown struct {
	Value any
	Stack []byte
}

func (*shown) Error() string { return "shown" }

func TestAPanicIsFoundAsATypeWithTheSameFields(t *testing.T) {
	err := Recovered("x")
	var found *shown
	require.ErrorAs(t, err, &found)
	require.Equal(t, "x", found.Value)
	require.NotEmpty(t, found.Stack)
	_, ok := errors.AsType[*runtime.TypeAssertionError](err)
	require.False(t, ok)
}

func TestAnEndOfAGoroutineIsAnErrorApart(t *testing.T) {
	require.ErrorIs(t, Apart(runtime.Goexit), ErrGoexit)
	require.ErrorContains(t, Apart(func() { panic("x") }), "panic: x")
	require.NoError(t, Apart(func() {}))
}

func TestErrorsWithBadMethods(t *testing.T) {
	require.False(t, Is(spiteful{}, errOrdinary))
	_, ok := As[*PanicError](spiteful{})
	require.False(t, ok)
	got, ok := As[*PanicError](Recovered("x"))
	require.True(t, ok)
	require.Equal(t, "x", got.Value)
	require.Contains(t, Text(spiteful{}), "PANIC")
	require.Contains(t, Do(func() { panic(spiteful{}) }).Error(), "PANIC")
}
