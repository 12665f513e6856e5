package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/remote"
)

// A Client is an actor system outside a cluster that talks to the actors inside. It is no
// member: no view shows it, it has no vote, and nothing is placed on it. It listens nowhere,
// so it may be behind a NAT: it dials every member, at the address that this advertises, and
// members answer over connections that it has opened.
//
// Its actors are told and asked by those of the cluster like any others, and each side can
// watch those of the other. What holds for messages is what holds between nodes, see package
// remote: they are in order, and delivered at most once.
//
// Its methods may be called by any goroutine.
type Client struct {
	*actor.System

	log      *zap.Logger
	contacts []string
	endpoint *remote.Endpoint
	keyring  *remote.Keyring
	views    *viewPublisher
	pushed   actor.ActorRef[contactNews]

	learning sync.Mutex                  // held to change contact, and what follows from it
	contact  atomic.Pointer[contactNews] // the last one that was not the same
	known    knownMembers                // likewise
	relays   relays

	asks    chan struct{} // of one: ask for news now
	aborted context.Context
	abort   context.CancelFunc
	tasks   sync.WaitGroup
}

// Dial connects to a cluster. It returns as soon as one of the contacts has answered, with
// an error when ctx ends before, or when none ever will: then it wraps
// [remote.ErrNotAuthenticated], or [remote.ErrForeign] where a contact is a web server, say, or a
// [*remote.RefusedError] that says, for instance, that the cluster has another name. After an error
// nothing is left behind.
//
// From then on the client knows the members, and follows them: when the node dies that tells
// it of them, it asks another one, and its contacts when it cannot reach any.
func Dial(ctx context.Context, cfg ClientConfig) (*Client, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c, err := newClient(cfg)
	if err != nil {
		return nil, err
	}
	if err := c.connect(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("cluster: dial: %w", err), c.Shutdown(context.WithoutCancel(ctx)))
	}
	c.tasks.Go(c.follow)
	return c, nil
}

// errClientOutside is why a client has no part in services and topics.
var errClientOutside = errors.New("this system is a client, which is no member of the cluster")

func newClient(cfg ClientConfig) (*Client, error) {
	ring, err := cfg.keyring()
	if err != nil {
		return nil, err
	}
	endpoint, err := remote.Listen(cfg.Traffic.apply(remote.Config{
		Cluster:  cfg.Name,
		Outbound: true,
		TLS:      cfg.TLS,
		Keyring:  ring,
		Network:  cfg.Network,
		Logger:   cfg.Logger,
	}))
	if err != nil {
		return nil, fmt.Errorf("cluster: dial: %w", err)
	}
	self := Member{Name: endpoint.Addr(), Address: endpoint.Addr(), Incarnation: endpoint.Self().Incarnation}
	c := &Client{
		log:      cfg.Logger.Named("client"),
		contacts: cfg.Contacts,
		endpoint: endpoint,
		keyring:  ring,
		views:    newViewPublisher(View{Self: self}),
		asks:     make(chan struct{}, 1),
	}
	c.aborted, c.abort = context.WithCancel(context.Background())
	c.contact.Store(&contactNews{})
	c.System = actor.NewSystem(cfg.Name, append([]actor.Option{
		actor.WithLogger(cfg.Logger), extension.WithTransport(endpoint.Addr(), endpoint),
	}, cfg.SystemOptions...)...)
	receptionist.AttachOutside(c.System, errClientOutside)
	extension.OnAskTimeout(c.System, c.relays.silence)
	endpoint.Serve(c.System)
	c.pushed = actor.Spawn(extension.Framework(c.System), c.takeNews, "news")
	return c, nil
}

// View returns what the client was last told of the cluster. Self is the client, which has no
// status. While no member answers, it is what was known before.
func (c *Client) View() View {
	v, _, _ := c.views.read()
	return v
}

// Views yields the view as it is now, and then whenever it has changed, until ctx ends or
// the client is shut down. A slow reader misses views, but never the newest.
func (c *Client) Views(ctx context.Context) iter.Seq[View] { return c.views.follow(ctx) }

// Contact returns the address of the member that tells the client of the others at present,
// or did last.
func (c *Client) Contact() string { return c.contact.Load().From.Address }

// Keyring returns the secrets of the client, by which they are changed while it runs, or nil
// where [ClientConfig.Secret] is not set.
func (c *Client) Keyring() *remote.Keyring { return c.keyring }

// Shutdown ends the client: its actors are stopped, what they have told members is sent,
// and connections are closed. When ctx ends before all actors have, it returns an error that
// names those, and may be called again.
func (c *Client) Shutdown(ctx context.Context) error {
	err := c.System.Shutdown(ctx)
	c.abort()
	c.tasks.Wait()
	return errors.Join(err, c.endpoint.Close())
}
