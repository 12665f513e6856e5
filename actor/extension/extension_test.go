package extension_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestExtensionsAreFoundByTheirStaticType(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	_, ok := extension.Get[*int](s)
	require.False(t, ok)
	counter1, counter2 := new(int), new(int)
	extension.Set(s, counter1)
	extension.Set(s, counter2)
	extension.Set[any](s, "under another type")
	c, ok := extension.Get[*int](s)
	require.True(t, ok)
	require.Same(t, counter2, c)
	a, ok := extension.Get[any](s)
	require.True(t, ok)
	require.Equal(t, "under another type", a)
	_, ok = extension.Get[string](s)
	require.False(t, ok)
}

func TestAnExtensionIsEnsuredOnceForAll(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	var all sync.Map
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() { all.Store(extension.Ensure(s, func() *int { return new(int) }), true) })
	}
	wait.Wait()
	count := 0
	all.Range(func(any, any) bool { count++; return true })
	require.Equal(t, 1, count)
}
