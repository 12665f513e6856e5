package codec

import (
	"context"

	"github.com/understudy-go/understudy/persistence/journal"
)

func (w *wrapper) SaveReader(ctx context.Context, r journal.Reader) error {
	if w.retain == nil {
		return unsupported("save reader")
	}
	return w.retain.SaveReader(ctx, r)
}

func (w *wrapper) RemoveReader(ctx context.Context, name string) error {
	if w.retain == nil {
		return unsupported("remove reader")
	}
	return w.retain.RemoveReader(ctx, name)
}

func (w *wrapper) Readers(ctx context.Context) ([]journal.Reader, error) {
	if w.retain == nil {
		return nil, unsupported("list readers")
	}
	return w.retain.Readers(ctx)
}

func (w *wrapper) End(ctx context.Context) (journal.Offset, error) {
	if w.retain == nil {
		return "", unsupported("find the end")
	}
	return w.retain.End(ctx)
}

func (w *wrapper) Head(ctx context.Context, id string) (journal.Claim, error) {
	if w.retain == nil {
		return journal.Claim{}, unsupported("look at")
	}
	return w.retain.Head(ctx, id)
}

func (w *wrapper) DeleteUnread(ctx context.Context, id string, epoch, seq uint64) error {
	if w.retain == nil {
		return unsupported("delete")
	}
	return w.retain.DeleteUnread(ctx, id, epoch, seq)
}
