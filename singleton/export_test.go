package singleton

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/singleton/internal/directory"
	"github.com/understudy-go/understudy/singleton/internal/wire"
)

// Advertise makes s say that it has a manager, by name or by name and signature, whatever is true.
func Advertise(s *actor.System, text string) {
	pretend(s, func(d *directory.Directory) { d.Advertise(text) })
}

// Withdraw makes s say that it has no manager of that name.
func Withdraw(s *actor.System, name string) {
	pretend(s, func(d *directory.Directory) { d.Withdraw(name) })
}

func pretend(s *actor.System, f func(d *directory.Directory)) {
	x, _ := extension.Get[*hubExtension](s)
	x.change(func(d *directory.Directory) []wire.Any {
		f(d)
		return nil
	})
	x.hub.Tell(flushDue{})
}

// SetMost makes n the number of singletons that s may have managers for.
func SetMost(s *actor.System, n int) {
	b := registryOf(s)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.most = n
}

// IsNews reports whether a message is what a hub tells others of its row and of records,
// without being asked for it.
func IsNews(msg any) bool {
	_, news := msg.(wire.Message[wire.News])
	return news
}

// IsExchange reports whether a message is one by which hubs tell each other what they know.
func IsExchange(msg any) bool {
	switch msg.(type) {
	case wire.Message[wire.News], wire.Message[wire.Row], wire.Message[wire.Records], wire.Message[wire.Compare], wire.Message[wire.Confirm]:
		return true
	}
	return false
}
