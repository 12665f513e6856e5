package cluster

import (
	"sync"
	"time"
)

const (
	// figuresHold is how long after an answer figures are not requested again.
	figuresHold = time.Second
	// figuresLast is how long the figures of a member that does not answer are shown.
	figuresLast = 5 * time.Second
)

// A figuresCache holds the figures that other members have sent. Its zero value is empty.
type figuresCache struct {
	mu     sync.Mutex // guards the fields below
	told   map[ID]figuresPage
	asked  time.Time
	asking chan struct{} // closed when all requested answers are in; nil while there is no request
}

type figuresPage struct {
	figuresTold
	at time.Time
}

// begin decides what a caller that wants figures does. If it returns end, the caller requests them
// and passes the answers to end. If it returns wait, another caller has requested them; wait is
// closed when they are there. If both are nil, the cached figures are new enough.
func (b *figuresCache) begin(now time.Time) (end func(map[ID]figuresTold), wait <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asking != nil {
		return nil, b.asking
	}
	if !b.asked.IsZero() && now.Sub(b.asked) < figuresHold {
		return nil, nil
	}
	b.asking = make(chan struct{})
	return b.end, nil
}

func (b *figuresCache) end(answers map[ID]figuresTold) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, old := time.Now(), b.told
	b.told, b.asked = map[ID]figuresPage{}, now
	for id, page := range old {
		if now.Sub(page.at) < figuresLast {
			b.told[id] = page
		}
	}
	for id, told := range answers {
		b.told[id] = figuresPage{told, now}
	}
	close(b.asking)
	b.asking = nil
}

// read returns the cached figures.
func (b *figuresCache) read() map[ID]figuresTold {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := map[ID]figuresTold{}
	for id, page := range b.told {
		known[id] = page.figuresTold
	}
	return known
}
