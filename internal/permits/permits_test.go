package permits

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestNoMoreThanThePermitsAreHeldAndNoneIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const permits, actors = 3, 200
		p := New(permits)
		held := make(chan struct{}, permits)
		for i := range actors {
			ctx, cancel := context.WithCancel(t.Context())
			if i%3 == 0 {
				go cancel() // while it waits, or when it has got one
			}
			go func() {
				defer cancel()
				if p.Acquire(ctx, fmt.Sprint(i%7)) != nil {
					return
				}
				select {
				case held <- struct{}{}:
				default:
					t.Error("more are held than there are")
				}
				<-held
				p.Release()
			}()
		}
		synctest.Wait()
		for range permits {
			require.True(t, p.Try(), "one is lost")
		}
		require.False(t, p.Try())
	})
}

func TestClassesAreServedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1)
		require.True(t, p.Try())
		var served []string
		for _, class := range []string{"a", "a", "a", "b", "c", "b"} {
			go func() {
				if err := p.Acquire(t.Context(), class); err != nil {
					t.Error(err)
				}
				served = append(served, class)
				p.Release()
			}()
			synctest.Wait()
		}
		require.Equal(t, 2, p.Waiting("b"))
		p.Release()
		synctest.Wait()
		require.Equal(t, []string{"a", "b", "c", "a", "b", "a"}, served)
		require.Zero(t, p.Waiting("b"))
	})
}

func TestAPermitThatComesAsItsWaiterGivesUpGoesToTheNext(t *testing.T) {
	p := New(0)
	first, second := p.enter("a"), p.enter("a")
	p.Release()
	p.leave(first)
	<-second.granted
	p.leave(second)
	require.True(t, p.Try())
}
