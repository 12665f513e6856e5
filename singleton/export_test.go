package singleton

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
)

// Advertise makes s say that it has a manager, by name or by name and signature, whatever is true.
func Advertise(s *actor.System, text string) {
	singletons.LinkOf(s).Note(func(d *directory.Directory) { d.Advertise(text) })
}

// Withdraw makes s say that it has no manager of that name.
func Withdraw(s *actor.System, name string) {
	singletons.LinkOf(s).Note(func(d *directory.Directory) { d.Withdraw(name) })
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
