package actor

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
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
		"unbounded":   {},
		"drop newest": Bounded(5),
		"drop oldest": Bounded(5).DropOldest(),
	}
	for name, box := range boxes {
		t.Run(name, func(t *testing.T) {
			for seed := range effort.Count[uint64](1, 5, 50) {
				random := rand.New(rand.NewPCG(seed, seed))
				q := new(queueAndBatch)
				m := model{box: box, chunks: new(chunks[int])}
				for n := range 1000 {
					switch random.IntN(10) {
					case 8, 9:
						if box.capacity == 0 {
							q.put(n, m.chunks)
							m.waiting = append(m.waiting, item[int]{msg: n})
						}
					case 0, 1, 2, 3:
						m.push(t, q, item[int]{msg: n})
					case 4:
						m.push(t, q, item[int]{task: nudge{n}})
					case 5:
						m.pop(t, q)
					case 6:
						for range random.IntN(400) {
							m.pop(t, q)
						}
					case 7:
						for range random.IntN(300) {
							m.push(t, q, item[int]{msg: n})
						}
					}
					require.Equal(t, len(m.batch)+len(m.waiting), q.batch.size+q.size(), "seed %d", seed)
				}
				require.Equal(t, append(m.batch, m.waiting...), q.drain(q.batch.drain([]item[int]{}, m.chunks), m.chunks), "seed %d", seed)
				require.Zero(t, q.size())
			}
		})
	}
}

// A queueAndBatch is what a cell has.
type queueAndBatch struct {
	queue[int]
	batch chain[int]
}

// model is a queue as simple as can be.
type model struct {
	box            Mailbox
	chunks         *chunks[int]
	batch, waiting []item[int]
}

func (m *model) push(t *testing.T, q *queueAndBatch, it item[int]) {
	over, overflow := q.push(it, m.box, m.chunks)
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
	case m.box.overflow == dropNewest:
		require.True(t, overflow)
		require.Equal(t, it, over)
	default:
		require.True(t, overflow)
		require.Equal(t, m.waiting[first], over)
		m.waiting = append(append(append([]item[int]{}, m.waiting[:first]...), m.waiting[first+1:]...), it)
	}
}

func (m *model) pop(t *testing.T, q *queueAndBatch) {
	it, ok := q.batch.pop(m.chunks)
	if !ok {
		require.Empty(t, m.batch)
		if msg, alone := q.takeFirst(); alone {
			require.Equal(t, item[int]{msg: msg}, m.waiting[0])
			m.waiting = m.waiting[1:]
			return
		}
		require.Equal(t, len(m.waiting) > 0, q.refill(&q.batch, m.box, m.chunks))
		if m.box.capacity == 0 {
			m.batch, m.waiting = m.waiting, nil
		} else if len(m.waiting) > 0 {
			m.batch, m.waiting = []item[int]{m.waiting[0]}, m.waiting[1:]
		}
		if it, ok = q.batch.pop(m.chunks); !ok {
			require.Empty(t, m.batch)
			return
		}
	}
	require.Equal(t, m.batch[0], it)
	m.batch = m.batch[1:]
}

func TestAChainThatHasBeenWorkedOffHoldsNoMemory(t *testing.T) {
	var q queueAndBatch
	pool := new(chunks[int])
	for n := range 5000 {
		q.put(n, pool)
	}
	q.takeFirst()
	require.True(t, q.refill(&q.batch, Mailbox{}, pool))
	for range 4999 {
		_, ok := q.batch.pop(pool)
		require.True(t, ok)
	}
	require.Equal(t, queueAndBatch{}, q)
}

func TestAChainRetainsNothingThatItHasGivenAway(t *testing.T) {
	var c chain[*int]
	pool := new(chunks[*int])
	for range 3 {
		c.put(new(int), pool)
	}
	c.pop(pool)
	c.takeBounded(pool)
	require.Nil(t, c.head.msgs[0])
	require.Nil(t, c.head.msgs[1])
	require.NotNil(t, c.head.msgs[2])
}

func TestAChunkOfLargeMessagesHasFewOfThem(t *testing.T) {
	pool := new(chunks[[4 << 10]byte])
	require.Equal(t, 32, cap(pool.get(2).msgs))
	require.Equal(t, 1024, cap(new(chunks[int]).get(2).msgs))
}

func TestWhatIsPutBackComesBeforeAllElse(t *testing.T) {
	var q queueAndBatch
	pool := new(chunks[int])
	for n := range 100 {
		q.put(100+n, pool)
	}
	q.takeFirst()
	q.refill(&q.batch, Mailbox{}, pool)
	q.put(200, pool)
	back := make([]item[int], 100)
	for n := range back {
		back[n].msg = n + 1
	}
	q.batch.putBack(back, pool)
	for n, it := range q.drain(q.batch.drain(nil, pool), pool) {
		require.Equal(t, n+1, it.msg)
	}
}
