package actor

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
)

// nudge is a task that no bound counts.
type nudge struct{ n int }

func (nudge) run(*cell)                {}
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
				q := newQueueAndBatch[int]()
				m := model{box: box}
				for n := range 1000 {
					switch random.IntN(10) {
					case 8, 9:
						if box.capacity == 0 {
							put(&q.core, &q.queue, n, nil)
							m.waiting = append(m.waiting, item{msg: n})
						}
					case 0, 1, 2, 3:
						m.push(t, q, n, nil)
					case 4:
						m.push(t, q, 0, nudge{n})
					case 5:
						m.pop(t, q)
					case 6:
						for range random.IntN(400) {
							m.pop(t, q)
						}
					case 7:
						for range random.IntN(300) {
							m.push(t, q, n, nil)
						}
					}
					require.Len(t, m.batch, int(q.batched), "seed %d", seed)
					require.Len(t, m.waiting, int(q.core.waiting), "seed %d", seed)
				}
				require.Equal(t, append(m.batch, m.waiting...), q.drain([]item{}), "seed %d", seed)
				require.Zero(t, q.core.waiting)
			}
		})
	}
}

// A queueAndBatch is what a box has, with the counts of its cell.
type queueAndBatch[M any] struct {
	core    core
	queue   queue[M]
	batch   *chunk[M]
	batched int32
}

func newQueueAndBatch[M any]() *queueAndBatch[M] {
	return &queueAndBatch[M]{queue: queue[M]{of: commonOf[M]()}}
}

func (q *queueAndBatch[M]) refill(box Mailbox) { q.batched = refill(&q.core, &q.queue, &q.batch, box) }

func (q *queueAndBatch[M]) pop() item {
	q.batched--
	return itemOf(takeFirst(&q.batch, &q.queue.of.unused))
}

func (q *queueAndBatch[M]) drain(into []item) []item {
	return drainQueue(&q.core, &q.queue, drain(q.batch, into, &q.queue.of.unused))
}

// model is a queue as simple as can be.
type model struct {
	box            Mailbox
	batch, waiting []item
}

func (m *model) push(t *testing.T, q *queueAndBatch[int], n int, by task) {
	over, overflow := push(&q.core, &q.queue, m.box, n, by)
	it, bounded, first := itemOf(n, by), 0, -1
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
		m.waiting = append(append(append([]item{}, m.waiting[:first]...), m.waiting[first+1:]...), it)
	}
}

func (m *model) pop(t *testing.T, q *queueAndBatch[int]) {
	if q.batched == 0 {
		require.Empty(t, m.batch)
		if q.core.alone != nothingAlone {
			msg, _ := takeAlone(&q.core, &q.queue)
			require.Equal(t, item{msg: msg}, m.waiting[0])
			m.waiting = m.waiting[1:]
			return
		}
		q.refill(m.box)
		if m.box.capacity == 0 {
			m.batch, m.waiting = m.waiting, nil
		} else if len(m.waiting) > 0 {
			m.batch, m.waiting = []item{m.waiting[0]}, m.waiting[1:]
		}
		require.Len(t, m.batch, int(q.batched))
		if q.batched == 0 {
			return
		}
	}
	require.Equal(t, m.batch[0], q.pop())
	m.batch = m.batch[1:]
}

func TestAChainThatHasBeenWorkedOffHoldsNoMemory(t *testing.T) {
	q := newQueueAndBatch[int]()
	for n := range 5000 {
		put(&q.core, &q.queue, n, nil)
	}
	takeAlone(&q.core, &q.queue)
	q.refill(Mailbox{})
	for range 4999 {
		q.pop()
	}
	require.Equal(t, newQueueAndBatch[int](), q)
}

func TestAChainRetainsNothingThatItHasGivenAway(t *testing.T) {
	var c chain[*int]
	unused := new(chunkPool)
	for range 3 {
		appendTo(&c, new(int), nil, unused)
	}
	takeFirst(&c.head, unused)
	takeOldest(&c, unused)
	require.Nil(t, c.head.msgs[0])
	require.Nil(t, c.head.msgs[1])
	require.NotNil(t, c.head.msgs[2])
}

func TestAChunkOfLargeMessagesHasFewOfThem(t *testing.T) {
	require.Equal(t, 32, cap(newChunk[[4 << 10]byte](2, new(chunkPool)).msgs))
	require.Equal(t, 1024, cap(newChunk[int](2, new(chunkPool)).msgs))
}

func TestWhatIsPutBackComesBeforeAllElse(t *testing.T) {
	s := NewSystem("test")
	defer func() { require.NoError(t, s.Shutdown(t.Context())) }()
	of := commonOf[int]()
	x := newBox(&s.user.core, nil, "", &of.conf, of)
	for n := range 100 {
		put(&x.cell.core, &x.queue, 100+n, nil)
	}
	takeAlone(&x.cell.core, &x.queue)
	x.cell.drew(refill(&x.cell.core, &x.queue, &x.batch, Mailbox{}))
	put(&x.cell.core, &x.queue, 200, nil)
	back := make([]item, 100)
	for n := range back {
		back[n].msg = n + 1
	}
	x.cell.putBack(back)
	require.EqualValues(t, 199, x.cell.batched)
	for n, it := range x.cell.drain() {
		require.Equal(t, n+1, it.msg)
	}
}
