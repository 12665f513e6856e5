package actor

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// nudge is a task that no bound counts.
type nudge struct{ n int }

func (nudge) run(*cell[int])           {}
func (nudge) exempt() bool             { return true }
func (nudge) undelivered() (any, bool) { return nil, false }

// TestAQueueIsASliceInPieces compares a queue with the obvious implementation, through
// random operations.
func TestAQueueIsASliceInPieces(t *testing.T) {
	boxes := map[string]Mailbox{
		"unbounded":   Unbounded(),
		"drop newest": Bounded(5, DropNewest),
		"drop oldest": Bounded(5, DropOldest),
	}
	for name, box := range boxes {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				random := rand.New(rand.NewPCG(seed, seed))
				var q queue[int]
				m := model{box: box}
				for n := range 1000 {
					switch random.IntN(8) {
					case 0, 1, 2, 3:
						m.push(t, &q, item[int]{msg: n})
					case 4:
						m.push(t, &q, item[int]{task: nudge{n}})
					case 5:
						m.pop(t, &q)
					case 6:
						for range random.IntN(30) {
							m.pop(t, &q)
						}
					case 7:
						for range random.IntN(30) {
							m.push(t, &q, item[int]{msg: n})
						}
						q.rest()
					}
					require.Equal(t, len(m.batch)+len(m.waiting), q.size(), "seed %d", seed)
				}
				require.Equal(t, append(m.batch, m.waiting...), append([]item[int]{}, q.drain()...), "seed %d", seed)
				require.Zero(t, q.size())
			}
		})
	}
}

// model is a queue as simple as can be.
type model struct {
	box            Mailbox
	batch, waiting []item[int]
}

func (m *model) push(t *testing.T, q *queue[int], it item[int]) {
	over, overflow := q.push(it, m.box)
	bounded, first := 0, -1
	for i, x := range m.waiting {
		if !x.exempt() {
			bounded++
			if first < 0 {
				first = i
			}
		}
	}
	switch {
	case m.box.capacity == 0 || it.exempt() || bounded < m.box.capacity:
		require.False(t, overflow)
		m.waiting = append(m.waiting, it)
	case m.box.overflow == DropNewest:
		require.True(t, overflow)
		require.Equal(t, it, over)
	default:
		require.True(t, overflow)
		require.Equal(t, m.waiting[first], over)
		m.waiting = append(append(append([]item[int]{}, m.waiting[:first]...), m.waiting[first+1:]...), it)
	}
}

func (m *model) pop(t *testing.T, q *queue[int]) {
	it, ok := q.pop()
	if !ok {
		require.Empty(t, m.batch)
		require.Equal(t, len(m.waiting) > 0, q.refill(m.box))
		if m.box.capacity == 0 {
			m.batch, m.waiting = m.waiting, nil
		} else if len(m.waiting) > 0 {
			m.batch, m.waiting = []item[int]{m.waiting[0]}, m.waiting[1:]
		}
		if it, ok = q.pop(); !ok {
			require.Empty(t, m.batch)
			return
		}
	}
	require.Equal(t, m.batch[0], it)
	m.batch = m.batch[1:]
}

func TestAChainAtRestKeepsNoLargeChunk(t *testing.T) {
	var q queue[int]
	for n := range 5000 {
		q.push(item[int]{msg: n}, Unbounded())
	}
	require.True(t, q.refill(Unbounded()))
	for range 5000 {
		_, ok := q.pop()
		require.True(t, ok)
	}
	q.rest()
	require.Nil(t, q.batch.head)
	require.Nil(t, q.batch.spare)
	require.Nil(t, q.waiting.spare)
}

func TestAChainRetainsNothingThatItHasGivenAway(t *testing.T) {
	var c chain[*int]
	for range 3 {
		c.push(item[*int]{msg: new(int)})
	}
	c.pop()
	c.takeBounded()
	require.Nil(t, c.head.items[0].msg)
	require.Nil(t, c.head.items[1].msg)
	require.NotNil(t, c.head.items[2].msg)
}
