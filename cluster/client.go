package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/peers"
	"github.com/understudy-go/understudy/internal/shardtree"
	"github.com/understudy-go/understudy/internal/singletons"
	"github.com/understudy-go/understudy/internal/transport"
	"github.com/understudy-go/understudy/remote"
)

// A Client is an actor system outside a cluster that exchanges messages with the actors inside. It
// is not a member: no view shows it, it has no vote, and nothing is placed on it. It does not
// listen, so it may be behind a NAT. It dials every member at the address that the member
// advertises, and members answer over the connections that it opened.
//
// Actors of the client and of the cluster can send to, ask and watch each other. Messages are in
// order and delivered at most once, as between nodes; see package remote.
//
// Its methods may be called by any goroutine.
type Client struct {
	*actor.System

	log      *zap.Logger
	contacts []string
	endpoint *transport.Endpoint
	keyring  *remote.Keyring
	views    *viewPublisher
	pushed   actor.ActorRef[contactNews]

	learning sync.Mutex                  // guards contact, known and leaving
	contact  atomic.Pointer[contactNews] // the last answer without Same
	known    knownMembers
	leaving  map[remote.NodeID]bool // members that have said so themselves
	takers   *clientTakers

	asks    chan struct{} // capacity 1: ask for news now
	aborted context.Context
	abort   context.CancelFunc
	tasks   sync.WaitGroup
}

// Dial connects to a cluster and returns as soon as one of the contacts has answered. Without a
// deadline in ctx it may wait forever.
//
// It returns an error when ctx ends first, and at once when each contact refuses for good. Then the
// error wraps [remote.ErrNotAuthenticated], [remote.ErrForeign] if a contact is, for instance, a
// web server, or a [*remote.RefusedError], for instance if the cluster has another name. After an
// error nothing is left running.
//
// The client then follows the members. When its contact does not answer any more, it asks another
// member, and the contacts of cfg if it can reach none.
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

var errClientOutside = errors.New("this system is a client, which is no member of the cluster")

func newClient(cfg ClientConfig) (*Client, error) {
	ring, err := cfg.keyring()
	if err != nil {
		return nil, err
	}
	endpoint, err := transport.Listen(cfg.Traffic.apply(transport.Config{
		Cluster:  cfg.Name,
		Protocol: spoken(),
		Outbound: true,
		TLS:      cfg.TLS,
		Keyring:  ring,
		Network:  cfg.Network,
		Logger:   cfg.Logger,
	}))
	if err != nil {
		return nil, fmt.Errorf("cluster: dial: %w", err)
	}
	self := membership.Member{Name: endpoint.Addr(), Address: endpoint.Addr(), Incarnation: endpoint.Self().Incarnation}
	c := &Client{
		log:      cfg.Logger.Named("client"),
		contacts: cfg.Contacts,
		endpoint: endpoint,
		keyring:  ring,
		views:    newViewPublisher(viewOf(membership.View{Self: self})),
		asks:     make(chan struct{}, 1),
		leaving:  map[remote.NodeID]bool{},
	}
	c.aborted, c.abort = context.WithCancel(context.Background())
	c.contact.Store(&contactNews{})
	c.System = actor.NewSystem(cfg.Name, append([]actor.Option{
		actor.WithLogger(cfg.Logger), extension.WithTransport(endpoint.Addr(), endpoint),
	}, cfg.SystemOptions...)...)
	explainUnsharded(c.System, shardtree.NotOnClient, shardtree.ErrNoPlacement)
	peers.AttachOutside(c.System, errClientOutside)
	c.takers = &clientTakers{client: c, followers: map[*clientFollowing]bool{}}
	extension.Set[singletons.Takers](c.System, c.takers)
	endpoint.Serve(c.System)
	c.pushed = actor.Spawn(extension.Framework(c.System), c.takeNews, newsName)
	return c, nil
}

// View returns the newest view that the client has received. Self is the client, which has no
// status. While no member answers, the view does not change.
func (c *Client) View() View {
	v, _, _ := c.views.read()
	return v
}

// Views yields the current view, and then the newest one after each change, until ctx ends or the
// client is shut down. A slow reader misses views, but never the newest.
func (c *Client) Views(ctx context.Context) iter.Seq[View] { return c.views.follow(ctx) }

// Contact returns the address of the member that sends the client its views, or sent the last one.
func (c *Client) Contact() string { return c.contact.Load().From.Address }

// Keyring returns the secrets of the client, to change them while it runs. It returns nil if
// [ClientConfig.Secret] is not set.
func (c *Client) Keyring() *remote.Keyring { return c.keyring }

// Shutdown stops the client's actors, sends what they have sent to members, and closes the
// connections. If ctx ends before all actors have, it returns an error that names them, and may be
// called again.
func (c *Client) Shutdown(ctx context.Context) error {
	err := c.System.Shutdown(ctx)
	c.abort()
	c.tasks.Wait()
	return errors.Join(err, c.endpoint.Close())
}

// Lookup returns the instances of a service that a member knows of now; see package receptionist.
// It asks the client's contact, and the other members if that does not answer. The client can send
// to the refs of the listing, and ask them. The refs become stale when their actors end, so look up
// again when one does not answer, or watch it.
//
// Lookup blocks until a member has answered. If none does, it returns the error of the last member
// that it asked, which wraps ctx.Err() if ctx has ended.
func Lookup[M any](ctx context.Context, c *Client, key receptionist.ServiceKey[M]) (listing receptionist.Listing[M], err error) {
	for _, address := range append([]string{c.Contact()}, addressesOf(c.View())...) {
		if listing, err = lookupAt(ctx, c, address, key); err == nil || ctx.Err() != nil {
			break
		}
	}
	return listing, err
}

func lookupAt[M any](ctx context.Context, c *Client, address string, key receptionist.ServiceKey[M]) (receptionist.Listing[M], error) {
	ctx, cancel := context.WithTimeoutCause(ctx, newsPatience, errSilent)
	defer cancel()
	return receptionist.Lookup(ctx, c.System, address, key)
}

// clientPatience is how long a node that leaves waits for its clients. One that answers later may
// lose what it has sent to this node meanwhile.
const clientPatience = time.Second

// tellClients tells all clients that are connected that this node leaves, and returns when their
// proxies send to other members. It comes first: what clients have sent before is passed on while
// shards move and singletons are handed over. A client would hear from another member that this one
// leaves, but perhaps only after this node has ended.
func tellClients(ctx context.Context, n *Node) error {
	self := n.View().Self
	if self.Status < Joining || self.Status >= Down || isClosed(n.departure.quick) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clientPatience)
	defer cancel()
	var told sync.WaitGroup
	for _, address := range n.endpoint.Outbound() {
		client := actor.Resolve[contactNews](n.System, "understudy://"+n.Name()+"@"+address+newsPath)
		told.Go(func() {
			// An error means that the client has ended or does not answer: nothing is left to do.
			_, _ = actor.Ask(ctx, client, func(answer actor.ActorRef[bool]) contactNews {
				return contactNews{From: self.ID(), Leaves: answer}
			})
		})
	}
	told.Wait()
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
