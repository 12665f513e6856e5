package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/remote"
)

const (
	newsAskedEvery = time.Second     // for news
	newsPatience   = 2 * time.Second // with one answer
	shortestWait   = 100 * time.Millisecond
	longestWait    = 5 * time.Second // between rounds of candidates, of which none answers
)

// errNoMember is why a node is no contact.
var errNoMember = errors.New("the node is in no cluster at present")

// follow keeps up with the cluster until the client is shut down.
func (c *Client) follow() {
	defer c.views.end()
	for c.waitToAsk() {
		err := c.ask(c.aborted, c.Contact())
		if err == nil || c.aborted.Err() != nil {
			continue
		}
		c.log.Warn("contact lost", zap.String("peer", c.Contact()), zap.Error(err))
		c.findAnother()
	}
}

// waitToAsk waits until it is time to ask for news; it returns false when the client is shut
// down.
func (c *Client) waitToAsk() bool {
	timer := time.NewTimer(newsAskedEvery)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.asks:
	case <-c.aborted.Done():
	}
	return c.aborted.Err() == nil
}

// askSoon asks for news without waiting until it is time.
func (c *Client) askSoon() {
	select {
	case c.asks <- struct{}{}:
	default: // it is about to
	}
}

// findAnother finds another contact, however long it takes.
func (c *Client) findAnother() {
	for failures := 0; wait(c.aborted, pause(failures)); failures++ {
		if err := c.tryAll(c.aborted); err == nil {
			c.log.Info("another contact", zap.String("peer", c.Contact()))
			return
		} else if failures == 0 {
			c.log.Warn("no member can be reached", zap.Error(err))
		}
	}
}

// connect finds the first contact.
func (c *Client) connect(ctx context.Context) error {
	for failures := 0; ; failures++ {
		err := c.tryAll(ctx)
		if err == nil {
			return nil
		}
		if hopeless, all := errors.AsType[*hopelessError](err); all {
			return hopeless.err
		}
		if !wait(ctx, pause(failures+1)) {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// pause returns how long to wait after so many failures in a row: with some chance, so that
// clients do not come all at once.
func pause(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	longest := min(shortestWait<<min(failures, 10), longestWait)
	return longest/2 + rand.N(longest/2)
}

// wait returns false when ctx has ended by then.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// A hopelessError says that no contact will ever answer.
type hopelessError struct{ err error }

func (e *hopelessError) Error() string { return e.err.Error() }

// tryAll asks one candidate after the other. Its error is a [*hopelessError] when each of
// them refuses for good.
func (c *Client) tryAll(ctx context.Context) error {
	var errs []error
	hopeless := true
	for _, address := range c.candidates() {
		err := c.try(ctx, address)
		if err == nil {
			return nil
		}
		hopeless = hopeless && final(err)
		errs = append(errs, fmt.Errorf("%s: %w", address, err))
	}
	if err := errors.Join(errs...); !hopeless {
		return err
	}
	return &hopelessError{errors.Join(errs...)}
}

// final tells whether it makes no sense to try again.
func final(err error) bool {
	if refused, ok := errors.AsType[*remote.RefusedError](err); ok {
		return refused.Refusal == remote.RefusedCluster || refused.Refusal == remote.RefusedVersion || refused.Refusal == remote.RefusedIdentity
	}
	return errors.Is(err, remote.ErrNotAuthenticated) || errors.Is(err, remote.ErrForeign)
}

// candidates returns whom to ask: the members that are known, in any order, but the last
// contact and those that cannot be reached after the others; then the contacts of the user.
func (c *Client) candidates() []string {
	v, last := c.View(), c.Contact()
	members := slices.Clone(v.Members)
	rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	var near, far []string
	for _, m := range members {
		if m.Address == last || !v.Reachable(m) {
			far = append(far, m.Address)
		} else {
			near = append(near, m.Address)
		}
	}
	return slices.Concat(near, far, c.contacts)
}

// try makes a contact of the node that lives at an address.
func (c *Client) try(ctx context.Context, address string) error {
	peer, err := c.endpoint.Greet(ctx, address)
	if err != nil {
		return err
	}
	c.reach(peer.Address) //nolint:contextcheck // what is reached outlives the question
	return c.ask(ctx, peer.Address)
}

// ask asks a node for news, and learns them.
func (c *Client) ask(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, newsPatience, errSilent)
	defer cancel()
	known, singletons := c.contact.Load(), c.relays.singletons()
	to := actor.Resolve[contactAsked](c.System, "understudy://"+c.Name()+"@"+address+"/system/"+contactName)
	news, err := actor.Ask(ctx, to, func(replyTo actor.ActorRef[contactNews]) contactAsked {
		return contactAsked{
			From: known.From, Known: known.Version, Singletons: singletons, Managers: sumOf(known.Managers),
			ReplyTo: replyTo, Push: c.pushed,
		}
	})
	switch {
	case err != nil:
		return err
	case !news.Member:
		return errNoMember
	case !news.Same:
		c.learn(news) //nolint:contextcheck // what is reached outlives the question
	}
	return nil
}

var errSilent = errors.New("cluster: the node does not answer")

// takeNews is the behavior that takes what the contact tells without being asked.
func (c *Client) takeNews(_ *actor.Context[contactNews], next *actor.Next[contactNews]) {
	next.OnMessage = func(_ *actor.Context[contactNews], news contactNews) actor.Behavior[contactNews] {
		if news.From == c.contact.Load().From && news.Member {
			c.learn(news)
		}
		return nil
	}
}

// learn shows the client what a contact has told, unless it knows more by now.
func (c *Client) learn(news contactNews) {
	c.learning.Lock()
	defer c.learning.Unlock()
	if known := c.contact.Load(); news.From == known.From && !news.newer(known) {
		return
	}
	c.contact.Store(&news)
	before := c.View()
	v := news.view(before.Version+1, before.Self)
	c.reach(news.From.Address, addressesOf(v)...)
	c.endpoint.Members(c.endpoint.Self(), c.known.learn(news))
	c.views.publish(v)
}

// newer reports whether news say more than what the same node has told before. Managers have
// no version; what comes late is made good for when the client asks again.
func (news contactNews) newer(known *contactNews) bool {
	return news.Version > known.Version || news.Version == known.Version && sumOf(news.Managers) != sumOf(known.Managers)
}

// reach lets nodes send to this client: a contact, and all members, as each of them may have
// to answer.
func (c *Client) reach(contact string, members ...string) {
	if members == nil {
		members = addressesOf(c.View())
	}
	c.endpoint.Reach(append([]string{contact}, members...))
}

func addressesOf(v View) []string {
	var all []string
	for _, m := range v.Members {
		all = append(all, m.Address)
	}
	return all
}

// manages reports whether the contact knows that a member has a manager of a singleton.
func (c *Client) manages(member ID, name string) bool {
	return slices.ContainsFunc(c.contact.Load().Managers, func(m contactManagers) bool {
		return m.Singleton == name && slices.Contains(m.At, member)
	})
}
