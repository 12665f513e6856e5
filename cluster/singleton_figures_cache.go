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
	// figuresHold is for how long figures are not asked for again.
	figuresHold = time.Second
	// figuresLast is how long the figures of a member that does not answer are shown.
	figuresLast = 5 * time.Second
)

// A figuresCache has what other members have told of their singletons. Its zero value is empty.
type figuresCache struct {
	mu     sync.Mutex // guards the fields below
	told   map[ID]figuresPage
	asked  time.Time
	asking chan struct{} // closed when all that are asked have answered; nil while none is
}

type figuresPage struct {
	figuresTold
	at time.Time
}

// begin returns a function that ends the asking, which its caller has to do; or what to wait
// for, as somebody asks already; or neither, as what is known is new enough.
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

// read returns what is known.
func (b *figuresCache) read() map[ID]figuresTold {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := map[ID]figuresTold{}
	for id, page := range b.told {
		known[id] = page.figuresTold
	}
	return known
}

// askForFigures asks the members that can be reached for theirs, unless that has just been
// done, and waits for the answers, but not for long.
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), figuresPatience) // others wait for it, too
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
				return // the page says that it has not answered
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
