//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton"
)

func TestAnInstanceIsReplacedWhenAnotherAnswers(t *testing.T) {
	first, second := singleton.Generation{Term: 1, Seq: 1}, singleton.Generation{Term: 2, Seq: 1}
	answer := func(at int, g singleton.Generation) Operation {
		return Operation{Returned: time.Duration(at) * time.Second, Answer: Answer{Generation: g}}
	}
	s := injection{at: 10 * time.Second, until: 30 * time.Second, replaces: first}
	history := []Operation{answer(9, first), answer(0, singleton.Generation{}), answer(11, first), answer(17, second), answer(14, second)}
	after, ok := replaced(s, history)
	require.True(t, ok)
	require.Equal(t, 4*time.Second, after)

	_, ok = replaced(s, history[:3])
	require.False(t, ok, "no other has answered")
	s.until = 13 * time.Second
	_, ok = replaced(s, history)
	require.False(t, ok, "it was another injection")
	s.until, s.replaces = 30*time.Second, singleton.Generation{}
	_, ok = replaced(s, history)
	require.False(t, ok, "it hit nobody")
}

func TestPercentiles(t *testing.T) {
	var d []time.Duration
	require.Zero(t, percentile(d, 50))
	for i := range 50 {
		d = append(d, time.Duration(50-i))
	}
	require.Equal(t, []time.Duration{25, 45, 50, 50}, []time.Duration{percentile(d, 50), percentile(d, 90), percentile(d, 99), percentile(d, 100)})
	require.Equal(t, time.Duration(7), percentile([]time.Duration{7}, 50))
}
