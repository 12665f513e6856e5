package singleton

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// Offer makes s say that it has a manager, by name or by name and signature, whatever is true.
func Offer(s *actor.System, text string) { pretend(s, func(d *directory) { d.offer(text) }) }

// Withdraw makes s say that it has no manager of that name.
func Withdraw(s *actor.System, name string) { pretend(s, func(d *directory) { d.withdraw(name) }) }

func pretend(s *actor.System, f func(d *directory)) {
	o, _ := extension.Get[*office](s)
	o.change(func(d *directory) []letter {
		f(d)
		return nil
	})
	o.hub.Tell(flushAsked{})
}

// SetMost makes n the number of singletons that s may have managers for.
func SetMost(s *actor.System, n int) {
	b := boardOf(s)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most = n
}

// IsNews reports whether a message is what a hub tells others of its row and of records,
// without being asked for it.
func IsNews(msg any) bool {
	_, news := msg.(wireNews)
	return news
}

// IsExchange reports whether a message is one by which hubs tell each other what they know.
func IsExchange(msg any) bool {
	switch msg.(type) {
	case wireNews, wireRow, wireRecords, wireCompare, wireConfirm:
		return true
	}
	return false
}
