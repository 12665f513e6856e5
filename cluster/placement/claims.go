package placement

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/singleton"
)

// errNoAnswer is the result of a claim that was not answered in time. A later answer is ignored.
// The term that it has is skipped.
var errNoAnswer = errors.New("no answer in time")

// claims are those that the source of generations has not answered.
type claims struct {
	open map[uint64]*claim
	last uint64 // the number of the last claim
}

// A purpose is the reason for a claim.
type purpose uint8

const (
	toStart purpose = iota // StartSingleton
	toMove                 // a new owner while there is an old one
	toOwn                  // an owner where no instance runs
)

// A claim is a term that is claimed for a new owner, and what to do with it.
type claim struct {
	number  uint64
	until   time.Time // when the wait for the answer ends
	purpose purpose
	owner   string
	spec    SingletonSpec // of StartSingleton
	token   home.Token    // the request that waits for the answer; 0 for none
	x       *managed
}

func (c *claim) is(p purpose) bool { return c != nil && c.purpose == p }

// claim grants the singleton to another owner. Without a source the grant is the next term, which
// becomes a fact like all else. With a source, at most one claim is in flight for a singleton.
func (x *managed) claim(c claim) {
	c.x = x
	floor := max(x.floor, x.granted.generation.Term)
	if x.in.cfg.SourceTimeout == 0 {
		c.answered(floor+1, nil)
		return
	}
	all := &x.in.claims
	all.last++
	c.number, c.until = all.last, x.now().Add(x.in.cfg.SourceTimeout)
	x.asking, all.open[c.number] = &c, &c
	x.touch()
	if c.token != 0 {
		x.in.nodes.Waits(c.token, awaitsTerm)
	}
	x.in.nodes.Emit(claimTerm{Number: c.number, Label: x.label, Owner: c.owner, Floor: floor})
}

// awaitsTerm is why requests wait while a claim is in flight.
const awaitsTerm = "it needs a term, and Config.Generations has not answered"

// queue keeps a request until the source has answered.
func (x *managed) queue(in home.Input) {
	x.requests = append(x.requests, in)
	x.in.nodes.Waits(tokenOf(in), awaitsTerm)
}

// end handles an answer of the source, and then the requests that waited for it. The answer to a
// claim that was given up is ignored.
func (all *claims) end(in termClaimed) {
	c := all.open[in.Number]
	if c == nil {
		return
	}
	delete(all.open, in.Number)
	x := c.x
	x.asking = nil
	c.answered(in.Term, in.Err)
	waiting := x.requests
	x.requests = nil
	for _, in := range waiting {
		x.in.apply(in)
	}
}

// answered installs a grant. Otherwise it answers the waiting request with the error, or makes the
// singleton try again later.
func (c *claim) answered(term uint64, err error) {
	x := c.x
	x.touch()
	switch {
	case err != nil:
	case term > math.MaxUint32:
		err = fmt.Errorf("no term is left after %v", x.granted.generation)
	case term <= x.granted.generation.Term:
		err = fmt.Errorf("it has granted term %d after %v", term, x.granted.generation)
	}
	if err != nil {
		err = fmt.Errorf("%w: no term for %q: %w", ErrSource, x.label, err)
		if c.token == 0 {
			x.backOff(err.Error())
		}
		x.in.reply(c.token, nil, err)
		return
	}
	x.granted = grant{c.owner, singleton.Generation{Term: term}}
	switch c.purpose {
	case toStart:
		x.registered, x.spec = true, c.spec
		x.install(x.granted)
	case toMove:
		x.install(x.granted)
	case toOwn:
		x.grant, x.unused = x.granted, true
	}
	x.in.reply(c.token, x.ownership(), nil)
}

// renew grants the singleton to its owner again, under the next sequence number. It returns false
// if another owner has been granted a term since, or no number is left.
func (x *managed) renew() bool {
	if x.granted != x.grant || x.grant.generation.Seq == math.MaxUint32 {
		return false
	}
	x.granted.generation.Seq++
	x.grant = x.granted
	x.touch()
	return true
}

// A GenerationSource issues the terms of singletons, for example from a sequence in a database that
// also numbers other owners. By default the coordinator issues them in cluster.Config.Journal.
type GenerationSource interface {
	// ClaimTerm returns a term for a new owner of the singleton label: the name of a node. The term
	// is greater than floor and than every term ever returned for label, on any node, and less than
	// 2³². After an error a term may be skipped. The coordinator gives up after 10 s, when ctx
	// ends, and tries again later. It calls ClaimTerm from several goroutines.
	ClaimTerm(ctx context.Context, label, owner string, floor uint64) (term uint64, err error)
}

// claimTimeout is how long a call of a GenerationSource may take.
const claimTimeout = 10 * time.Second

// claim claims a term, in a goroutine of its own.
func (c *coordinator) claim(e claimTerm) {
	source := c.cfg.Generations
	actor.PipeToSelf(c.Ctx, func(ctx context.Context) (uint64, error) {
		ctx, cancel := context.WithTimeout(ctx, claimTimeout)
		defer cancel()
		return source.ClaimTerm(ctx, e.Label, e.Owner, e.Floor)
	}, func(term uint64, err error) home.Input {
		if err != nil {
			c.Ctx.Log().Warn("no term claimed", zap.String("label", e.Label), zap.Error(err))
		}
		return termClaimed{Number: e.Number, Term: term, Err: err}
	})
}
