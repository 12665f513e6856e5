package workflow

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/persistence"
)

// patience is how long an actor keeps a question for the result. Then it is asked again.
const patience = 10 * time.Second

type asking struct {
	to      actor.ActorRef[actor.Result[answer]]
	until   time.Time
	request *metadata.Request
}

func askingFor(to actor.ActorRef[actor.Result[answer]]) asking {
	// The question is asked again at patience.
	return asking{to, time.Now().Add(patience * 19 / 20), metadata.Arrived(patience)}
}

// unanswered yields the questions that are kept.
func (in *instance) unanswered() iter.Seq[extension.Described[any]] {
	return func(yield func(extension.Described[any]) bool) {
		for _, one := range slices.Concat(in.asking, in.looking) {
			if !yield(extension.Described[any]{Message: one.to, Metadata: extension.Metadata{}.WithRequest(one.request)}) {
				return
			}
		}
	}
}

func resultOf(s state) actor.Result[answer] {
	return actor.Result[answer]{Value: answer{State: s.End.State, Out: s.End.Out}}
}

// command handles what comes from outside.
func (in *instance) command(s state, c command) effect {
	if s.Begun.IsZero() && c.Op != opRun {
		in.ctx.After(timerIdle, moment, tick{timerIdle})
		return in.notFound(c)
	}
	switch c.Op {
	case opRun:
		return in.run(s, c)
	case opResult:
		return in.ask(s, c)
	case opSignal:
		return in.signalled(s, c)
	case opTurn:
		return in.turned(s, c)
	case opResume:
		return in.resume(s, c)
	case opLook:
		in.looking = append(in.looking, askingFor(c.ReplyTo))
		in.ctx.After(timerLook, time.Second, tick{timerLook})
		return in.looked(s, false)
	case opTold:
		if s.told() || c.Key != s.telling() {
			return persistence.None
		}
		e := event{What: told, At: time.Now()}
		return in.rest(apply(s, e), persistence.Persist(e))
	}
	return refuse(c, fmt.Errorf("%w: this node does not know the operation %q; upgrade it", ErrInvalid, c.Op))
}

// looked tells what the run does, once it has replayed what is stored, or if that takes long.
func (in *instance) looked(s state, anyway bool) effect {
	if len(in.looking) == 0 || in.live.replays() && !in.leaving && s.End.State == "" && !anyway {
		return persistence.None
	}
	all := actor.Result[answer]{Value: answer{Status: in.status(s)}}
	for _, one := range in.looking {
		one.to.Tell(all)
	}
	in.looking = nil
	in.ctx.CancelTimer(timerLook)
	return persistence.None
}

// notFound refuses a command of a run that has not begun. The append, which has no events, fails if
// another process has taken the id over: the run may have begun there.
func (in *instance) notFound(c command) effect {
	fence := persistence.None[event]
	if in.timers {
		fence = effect(nil).Cancel(timerWake)
	}
	return persistence.ThenReply(fence, c.ReplyTo, actor.Result[answer]{Err: fmt.Errorf("%w: %s of type %s", ErrNotFound, in.entity.ID, in.name)})
}

func refuse(c command, err error) effect {
	return persistence.Reply[event](c.ReplyTo, actor.Result[answer]{Err: err})
}

func accept(e effect, c command, s state) effect {
	return persistence.ThenReply(e, c.ReplyTo, actor.Result[answer]{Value: answer{State: stateOf(s)}})
}

func (in *instance) run(s state, c command) effect {
	switch {
	case !s.Begun.IsZero() && c.Parent != (address{}) && c.Parent != s.Parent:
		return refuse(c, fmt.Errorf("%w: run %s of type %s exists, and is no child of %s of type %s", ErrInvalid, in.entity.ID, in.name, c.Parent.ID, c.Parent.Type))
	case !s.Begun.IsZero() && c.Parent != (address{}) && c.Key != s.Asked:
		return in.askedAnew(s, c)
	case !s.Begun.IsZero():
		return accept(nil, c, s)
	}
	e := event{What: begun, Name: c.Key, Value: c.Value, Tag: c.Tag, Parent: c.Parent, Trace: in.span(), At: time.Now()}
	after := apply(s, e)
	stored := in.protect(persistence.Persist(e)).Then(func() {
		in.all.count(in.name, Running)
		in.launch(after)
	})
	return accept(stored, c, after)
}

// ask answers with the result, or keeps the question until the run ends.
func (in *instance) ask(s state, c command) effect {
	if s.End.State != "" {
		return persistence.Reply[event](c.ReplyTo, resultOf(s))
	}
	now := time.Now()
	in.asking = slices.DeleteFunc(in.asking, func(one asking) bool { return !one.until.After(now) })
	in.asking = append(in.asking, askingFor(c.ReplyTo))
	return persistence.None
}

func (in *instance) signalled(s state, c command) effect {
	if s.End.State != "" {
		if strings.HasPrefix(c.Name, childSignal) { // the parent was not waiting any more
			return accept(nil, c, s)
		}
		return persistence.Once(s.keyOf(c), refuse(c, fmt.Errorf("%w: %s of type %s", ErrEnded, in.entity.ID, in.name)))
	}
	e := event{What: signalled, Signal: c.Name, Value: c.Value, At: time.Now()}
	after := apply(s, e)
	stored := persistence.Persist(e)
	if rests, _ := in.live.next(); !rests || in.live.awaits(c.Name) {
		stored = in.protect(stored)
	}
	number := after.Number
	stored = stored.Then(func() { in.live.deliver(signal{c.Name, number, c.Value}) })
	return persistence.Once(s.keyOf(c), accept(stored, c, after))
}

// keyOf returns the key of a signal. Once an operator has dropped one, it may be sent again.
func (s state) keyOf(c command) string {
	if s.Dropped == 0 {
		return c.Key
	}
	return c.Key + "~" + strconv.Itoa(s.Dropped)
}

func (in *instance) turned(s state, c command) effect {
	switch {
	case s.End.State != "":
		return refuse(c, fmt.Errorf("%w: %s of type %s", ErrEnded, in.entity.ID, in.name))
	case s.Turned.State != "":
		return accept(nil, c, s)
	}
	why := ErrCancelled
	if c.State == Failed {
		why = ErrFailed
	}
	reason := fmt.Errorf("%w by %s: %s", why, said(c.By), said(c.Why))
	e := event{What: turned, State: c.State, Value: failure(reason), Undo: in.live.registered(), By: c.By, Why: c.Why, At: time.Now()}
	after := apply(s, e)
	return accept(in.protect(persistence.Persist(e)).Then(func() {
		in.live.turn(reason, e.At)
		in.launch(after)
	}), c, after)
}

func said(text string) string {
	if text == "" {
		return "not said"
	}
	return text
}

// resume stores that an operator lets the run go on. If outcomes are forgotten, another incarnation
// begins, because the goroutines of this one know them.
func (in *instance) resume(s state, c command) effect {
	if c.Name == "" && s.End.State != "" {
		return refuse(c, fmt.Errorf("%w: %s of type %s; name the step from which it shall go on", ErrEnded, in.entity.ID, in.name))
	}
	if c.Name != "" && !slices.ContainsFunc(s.Outcomes, func(o outcome) bool { return o.Name == c.Name }) {
		return refuse(c, fmt.Errorf("%w: run %s of type %s has no outcome of a step %q", ErrInvalid, in.entity.ID, in.name, c.Name))
	}
	e := event{What: resumed, Name: c.Name, By: c.By, Why: c.Why, At: time.Now()}
	after := apply(s, e)
	stored := persistence.Persist(e)
	if c.Name == "" && !in.leaving {
		return persistence.Once(c.Key, accept(in.protect(stored).Then(func() {
			in.live.retry()
			in.launch(after)
		}), c, after))
	}
	in.leaving, in.deaf = true, c.Name != ""
	in.live.leave()
	in.alarm = time.Now()
	stored = in.set(stored, timerWake, in.alarm)
	return persistence.Once(c.Key, accept(stored, c, after).ThenStop())
}
