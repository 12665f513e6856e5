package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/pause"
	"github.com/understudy-go/understudy/remote"
)

const (
	newsAskedEvery = time.Second     // between two requests for news
	newsPatience   = 2 * time.Second // for one answer
	shortestWait   = 100 * time.Millisecond
	longestWait    = 5 * time.Second // between rounds in which no candidate answers
)

// newsName is the name of the actor of a client that members push news to.
const (
	newsName = "news"
	newsPath = "/system/" + newsName
)

var errNoMember = errors.New("the node is in no cluster at present")

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

// waitToAsk returns false when the client is shut down.
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

func (c *Client) askSoon() {
	select {
	case c.asks <- struct{}{}:
	default: // a request is pending
	}
}

func (c *Client) findAnother() {
	for failures := 0; pause.For(c.aborted, delay(failures)) == nil; failures++ {
		if err := c.tryAll(c.aborted); err == nil {
			c.log.Info("another contact", zap.String("peer", c.Contact()))
			return
		} else if failures == 0 {
			c.log.Warn("no member can be reached", zap.Error(err))
		}
	}
}

// connect tries candidates until one becomes the first contact, each refuses for good, or ctx ends.
func (c *Client) connect(ctx context.Context) error {
	for failures := 0; ; failures++ {
		err := c.tryAll(ctx)
		if err == nil {
			return nil
		}
		if hopeless, all := errors.AsType[*hopelessError](err); all {
			return hopeless.err
		}
		if pause.For(ctx, delay(failures+1)) != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// The delay is random, so that many clients do not retry at the same moment.
func delay(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	longest := min(shortestWait<<min(failures, 10), longestWait)
	return longest/2 + rand.N(longest/2)
}

// A hopelessError is returned when no candidate will ever answer.
type hopelessError struct{ err error }

func (e *hopelessError) Error() string { return e.err.Error() }

// tryAll tries one candidate after the other. It returns a [*hopelessError] if each of them refuses
// for good.
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

func final(err error) bool {
	if refused, ok := errors.AsType[*remote.RefusedError](err); ok {
		return refused.Refusal == remote.RefusedCluster || refused.Refusal == remote.RefusedVersion || refused.Refusal == remote.RefusedIdentity
	}
	return errors.Is(err, remote.ErrNotAuthenticated) || errors.Is(err, remote.ErrForeign)
}

// candidates returns the addresses to try: known members in random order, with the last contact and
// unreachable members after the others, and then the contacts of the configuration.
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

func (c *Client) try(ctx context.Context, address string) error {
	peer, err := c.endpoint.Greet(ctx, address)
	if err != nil {
		return err
	}
	c.reach(peer.Address) //nolint:contextcheck // what is reached outlives the question
	return c.ask(ctx, peer.Address)
}

func (c *Client) ask(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, newsPatience, errSilent)
	defer cancel()
	known, singletons := c.contact.Load(), c.takers.singletons()
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

func (c *Client) takeNews(_ *actor.Context[contactNews], next *actor.Next[contactNews]) {
	next.OnMessage = func(_ *actor.Context[contactNews], news contactNews) actor.Behavior[contactNews] {
		switch {
		case news.Leaves != (actor.ActorRef[bool]{}):
			c.leaves(news.From, func() { news.Leaves.Tell(true) })
		case news.From == c.contact.Load().From && news.Member:
			c.learn(news)
		}
		return nil
	}
}

// learn applies news and publishes the new view, unless newer news of the same contact are known.
func (c *Client) learn(news contactNews) {
	c.learning.Lock()
	defer c.learning.Unlock()
	if known := c.contact.Load(); news.From == known.From && !news.newer(known) {
		return
	}
	c.contact.Store(&news)
	v := c.show(news)
	c.reach(news.From.Address, addressesOf(v)...)
	members, gone := c.known.learn(news)
	c.endpoint.Members(c.endpoint.Self(), members)
	c.forget(gone)
	c.views.publish(v)
}

// show returns the next view. A member leaves as soon as it has said so, although the contact may
// not know it yet. The caller holds learning.
func (c *Client) show(news contactNews) View {
	before, members := c.View(), slices.Clone(news.Members)
	maps.DeleteFunc(c.leaving, func(id remote.NodeID, _ bool) bool {
		return !slices.ContainsFunc(members, func(m contactMember) bool { return m.Member.ID() == id })
	})
	for i, m := range members {
		if c.leaving[m.Member.ID()] {
			members[i].Member.Status = max(m.Member.Status, membership.Leaving)
		}
	}
	news.Members = members
	return news.view(before.Version+1, before.in.Self)
}

// leaves shows that a member leaves, and calls then once no proxy sends to it any more.
func (c *Client) leaves(id remote.NodeID, then func()) {
	c.learning.Lock()
	c.leaving[id] = true
	v := c.show(*c.contact.Load())
	c.views.publish(v)
	c.learning.Unlock()
	c.takers.await(v.Version, then)
}

// forget ends the connections to former members, as nodes do. What has not been sent to them would
// wait for as long as for a member that is unreachable.
func (c *Client) forget(former []remote.NodeID) {
	for _, id := range former {
		time.AfterFunc(forgetAfter, func() { c.endpoint.Forget(id) })
	}
}

// newer reports whether news are newer than what the same node has sent before. Managers have no
// version: a late message may restore old ones, until the client asks again.
func (news contactNews) newer(known *contactNews) bool {
	return news.Version > known.Version || news.Version == known.Version && sumOf(news.Managers) != sumOf(known.Managers)
}

// reach opens connections to a contact and to all members, so that each of them can send to this
// client.
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

func (c *Client) manages(member remote.NodeID, name string) bool {
	return slices.ContainsFunc(c.contact.Load().Managers, func(m contactManagers) bool {
		return m.Singleton == name && slices.Contains(m.At, member)
	})
}
