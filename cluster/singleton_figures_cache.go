package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/understudy-go/understudy/actor"
)

const (
	// figuresPatience is how long a page waits for the figures of other members.
	figuresPatience = 500 * time.Millisecond
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

// askForFigures requests the figures of the reachable members and waits up to figuresPatience for
// the answers. If the last answers are younger than figuresHold, it returns at once.
func (n *Node) askForFigures(ctx context.Context) {
	if _, _, ended := n.views.read(); ended {
		return
	}
	end, wait := n.figures.begin(time.Now())
	switch {
	case end != nil:
		end(n.collectFigures(ctx))
	case wait != nil:
		select {
		case <-wait:
		case <-ctx.Done():
		}
	}
}

func (n *Node) collectFigures(ctx context.Context) map[ID]figuresTold {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), figuresPatience) // others wait
	defer cancel()
	defer context.AfterFunc(n.aborted, cancel)() //nolint:contextcheck // it ends with the node, too
	v := n.View()
	var (
		asks    sync.WaitGroup
		mu      sync.Mutex // guards answers
		answers = map[ID]figuresTold{}
	)
	for _, m := range v.Members {
		if m.Status >= Down || m.ID() == v.Self.ID() || !v.Reachable(m) {
			continue
		}
		asks.Go(func() {
			told, err := n.askFigures(ctx, m)
			if err != nil {
				return // the page names members without an answer
			}
			mu.Lock()
			defer mu.Unlock()
			answers[m.ID()] = told
		})
	}
	asks.Wait()
	return answers
}

func (n *Node) askFigures(ctx context.Context, m Member) (figuresTold, error) {
	to := actor.Resolve[figuresAsked](n.System, "understudy://"+n.Name()+"@"+m.Address+"/system/"+figuresName)
	return actor.Ask(ctx, to, func(replyTo actor.ActorRef[figuresTold]) figuresAsked { return figuresAsked{ReplyTo: replyTo} })
}
