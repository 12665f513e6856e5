package extension_test

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/extension"
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

func TestAnExtensionIsCreatedOnceHoweverManyWantItAtOnce(t *testing.T) {
	s := testkit.NewSystem(t)
	var created atomic.Int32
	var all sync.Map
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			all.Store(extension.Ensure(s, func() *int {
				created.Add(1)
				runtime.Gosched()
				return new(int)
			}), true)
		})
	}
	wait.Wait()
	count := 0
	all.Range(func(any, any) bool { count++; return true })
	require.Equal(t, 1, count)
	require.EqualValues(t, 1, created.Load())
}

// A clock is an extension that has another implementation in tests.
type clock interface{ now() int }

type fixed int

func (f fixed) now() int { return int(f) }

func TestATestReplacesAnExtensionBeforeItIsUsed(t *testing.T) {
	s := testkit.NewSystem(t)
	extension.Set[clock](s, fixed(7))
	got := extension.Ensure(s, func() clock {
		t.Error("created all the same")
		return fixed(0)
	})
	require.Equal(t, 7, got.now())
	extension.Set[clock](s, fixed(8))
	require.Equal(t, 8, extension.Ensure(s, func() clock { return fixed(0) }).now())
}

func TestAnExtensionMayBeNilAndMayNeedAnother(t *testing.T) {
	s := testkit.NewSystem(t)
	extension.Set[clock](s, nil)
	got, ok := extension.Get[clock](s)
	require.True(t, ok)
	require.Nil(t, got)
	require.Equal(t, "1", extension.Ensure(s, func() string { return strconv.Itoa(extension.Ensure(s, func() int { return 1 })) }))
}

func TestAnExtensionWhoseCreationPanicsIsCreatedTheNextTime(t *testing.T) {
	s := testkit.NewSystem(t)
	require.PanicsWithValue(t, "boom", func() { extension.Ensure(s, func() int { panic("boom") }) })
	_, ok := extension.Get[int](s)
	require.False(t, ok)
	require.Equal(t, 1, extension.Ensure(s, func() int { return 1 }))
}
