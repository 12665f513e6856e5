package persistence

import (
	"context"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
)

type actorContext interface {
	context.Context
	Log() *zap.Logger
	System() *actor.System
}

// A mailbox takes commands back that an actor has not handled.
type mailbox interface {
	putBack(cmds []command) bool
	// tell sends a command again, behind those in the mailbox.
	tell(cmd command)
}

type mailboxOf[M any] actor.Context[M]

func (m *mailboxOf[M]) putBack(cmds []command) bool {
	msgs := make([]extension.Described[any], len(cmds))
	for i, cmd := range cmds {
		msgs[i] = extension.Described[any]{Message: cmd.msg, Metadata: cmd.metadata}
	}
	return extension.PutBack((*actor.Context[M])(m), msgs)
}

func (m *mailboxOf[M]) tell(cmd command) {
	self := (*actor.Context[M])(m).Self()
	if cmd.metadata.IsEmpty() {
		self.TellContext(cmd.ctx, as[M](cmd.msg))
	} else {
		extension.TellWith(self, as[M](cmd.msg), cmd.metadata)
	}
}
