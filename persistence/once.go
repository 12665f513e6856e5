package persistence

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
)

const (
	maxOnceKey   = 1024    // bytes
	maxOnceReply = 1 << 20 // bytes
	maxOnceKeys  = 100_000
)

// Once executes e for the first command with that key. A repeated command, which has the same key,
// stores nothing, and its sender gets the reply that the first one got. So clients may send a
// command again when its reply does not come:
//
//	return persistence.Once(msg.Key, persistence.ThenReply(persistence.Persist(paid), msg.ReplyTo, receipt))
//
// The key and the reply are stored with the events of e in one append, outside the state and the
// events. They outlive crashes, failover and snapshots. The actor knows the last
// [Options.OnceKeys] keys, none longer than [Options.OnceFor]; a command with another key is new.
//
// The reply is the first one that [ThenReply] or [Reply] adds to e or to the result of Once. Its
// type must be registered with [actor.RegisterType]; basic types are. For a repeated command, no
// other action that is chained to e runs, and e does not stop or unstash anything. What is chained
// to the result of Once takes place each time:
//
//	return persistence.Once(d.Key(), persistence.Persist(paid)).Then(d.Confirm)
//
// The command handler runs for each repetition, too: only its effect is replaced. A reply that it
// sends itself is sent each time.
//
// An effect without events, such as a refusal, is not kept: nothing is stored for it, and the next
// command with the key is decided anew. A command that comes while the first one is being stored
// waits, as all commands do, and then gets the same reply. If that write fails, it is the first.
//
// With the empty key, e is executed each time. A key has at most 1024 bytes of UTF-8 without
// NUL. A command with another key is not executed, and becomes a dead letter with [ErrInvalid]. If
// the first reply has another type than the reply of the repeated command, that becomes a dead
// letter with [ErrKeyReused]; so it does if there was no first reply. Asks end with these errors,
// and the actor continues. A reply that cannot be stored, because its type is not registered or it
// is larger than 1 MiB, rejects the events: the actor fails with a [RejectedError].
func Once[E any](key string, e Effect[E]) Effect[E] {
	return func(p *Plan[E]) { p.plan.onlyOnce(key, planOf(e)) }
}

// once is what a plan does only for the first command with a key.
type once struct {
	key  string
	plan *plan
}

func (p *plan) onlyOnce(key string, first *plan) {
	if key == "" && first.once == nil {
		*p = *first
		return
	}
	p.once = &once{key, first}
}

// err returns why the key cannot be used.
func (o *once) err() error {
	switch {
	case o.plan.once != nil:
		return fmt.Errorf("%w: an effect has two keys of Once, %q and %q; give it one", ErrInvalid, o.key, o.plan.once.key)
	case len(o.key) > maxOnceKey:
		return fmt.Errorf("%w: a key of Once has %d bytes, more than %d", ErrInvalid, len(o.key), maxOnceKey)
	case !utf8.ValidString(o.key), strings.ContainsRune(o.key, 0):
		return fmt.Errorf("%w: a key of Once is not UTF-8 or contains NUL: %q", ErrInvalid, o.key)
	}
	return nil
}

// resolve returns the plan that is executed for p. If the key of p is known, this has the first
// reply in place of what p does once. After an error it does nothing.
func resolve(e *entity, p *plan) (*plan, error) {
	if p.once == nil {
		return p, nil
	}
	err := p.once.err()
	if err == nil {
		known := e.once.find(p.once.key, time.Now())
		if known == nil {
			return p.first(), nil
		}
		e.caller.log.Debug("command repeated", zap.String("key", known.Key))
		var again *plan
		if again, err = p.again(e.ctx.System(), known); err == nil {
			return again, nil
		}
	}
	return &plan{}, err
}

// first returns the plan of the first command with its key.
func (p *plan) first() *plan {
	all := *p.once.plan
	all.once = p.once
	all.timers = append(all.timers, p.timers...)
	all.then = append(all.then, p.then...)
	all.unhandled = all.unhandled || p.unhandled
	all.stash = all.stash || p.stash
	all.stop = all.stop || p.stop
	all.unstashMore(p.unstash)
	return &all
}

// again returns the plan of a repeated command.
func (p *plan) again(s *actor.System, known *keyed) (*plan, error) {
	again := *p
	again.once, again.then = nil, slices.Clone(p.then)
	if i := replyIn(p.once.plan.then); i >= 0 {
		again.then = slices.Insert(again.then, 0, p.once.plan.then[i])
	}
	i := replyIn(again.then)
	if i < 0 {
		return &again, nil // nobody waits for a reply
	}
	send := again.then[i].(replying)
	if reply, _ := send(askReply{}); reply != nil {
		codec.NameOf(reflect.TypeOf(reply)) // a process that has sent no such result yet could not decode the first one
	}
	first, err := known.reply(s)
	if err != nil {
		return nil, err
	}
	if _, ok := send(canSend{first}); !ok {
		reply, _ := send(askReply{})
		return nil, fmt.Errorf("%w: the first reply for %q is a %T; the new one is of type %T", ErrKeyReused, known.Key, first, reply)
	}
	again.then[i] = doing(func() { send(first) })
	return &again, nil
}

// replyIn returns the index of the first reply, or -1.
func replyIn(actions []action) int {
	return slices.IndexFunc(actions, func(a action) bool { _, ok := a.(replying); return ok })
}

// remember adds the key of plan, and its reply, to the records of b. For a durable state, each
// record has the keys that recovery needs. Its errors are rejections.
func remember(e *entity, plan *plan, b *batch) (err error) {
	if len(b.req.Records) == 0 || plan.once == nil && e.once == nil {
		return nil
	}
	last := &b.req.Records[len(b.req.Records)-1]
	if plan.once != nil {
		if b.keyed, err = keyedBy(e, plan, last.Time); err != nil {
			return fmt.Errorf("%w: the reply for the key %q: %w", ErrInvalid, plan.once.key, err)
		}
	}
	var stored storedKeys
	if b.keyed != nil {
		stored.Keys = []keyed{*b.keyed}
	}
	if _, durable := e.journal.(*stateJournal); durable {
		e.once.complete(&stored, e.seq, last)
	}
	b.since = stored.Since
	return stored.to(last)
}

// remembered follows the success of b.
func remembered(e *entity, b *batch) {
	switch {
	case b.keyed == nil && e.once == nil:
		return
	case e.once == nil:
		e.once = e.newKeys()
	}
	last := &b.req.Records[len(b.req.Records)-1]
	if b.keyed != nil {
		e.once.add(b.keyed, last.Time)
	}
	e.once.since = b.since
}

// keyedBy returns the key and the first reply of a plan.
func keyedBy(e *entity, plan *plan, at time.Time) (*keyed, error) {
	k := &keyed{Key: plan.once.key, At: at.UnixNano()}
	i := replyIn(plan.then)
	if i < 0 {
		return k, nil
	}
	k.Replied = true
	reply, _ := plan.then[i].(replying)(askReply{})
	if reply == nil {
		return k, nil
	}
	p, err := e.pack(reply)
	if err != nil {
		return nil, err
	}
	if len(p.Data) > maxOnceReply {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(p.Data), maxOnceReply)
	}
	k.Type, k.Reply = p.Type, p.Data
	return k, nil
}
