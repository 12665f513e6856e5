package clustertest

import (
	"context"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
)

// A ClientOption changes the configuration of a client before it dials.
type ClientOption func(cfg *cluster.ClientConfig)

// Dial connects a client to the nodes that run, from a host of that name, and returns it. It
// is shut down when the test ends, if it has not been before. Cuts, delays and the like are
// for the links of its host, too.
func (c *Cluster) Dial(host string, opts ...ClientOption) *cluster.Client {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	client, err := c.TryDial(ctx, host, opts...)
	if err != nil {
		c.t.Fatalf("clustertest: dial from %s: %v", host, err)
	}
	return client
}

// TryDial is like [Cluster.Dial] for clients that may get no answer.
func (c *Cluster) TryDial(ctx context.Context, host string, opts ...ClientOption) (*cluster.Client, error) {
	cfg := cluster.ClientConfig{
		Name:    "test",
		Network: c.net.Host(host),
		Logger:  zaptest.NewLogger(c.t, zaptest.Level(zap.ErrorLevel)).Named(host),

		SystemOptions: []actor.Option{c.enc},
	}
	cfg.Contacts = append(cfg.Contacts, c.addresses()...)
	slices.SortFunc(cfg.Contacts, byNumber)
	for _, o := range opts {
		o(&cfg)
	}
	client, err := cluster.Dial(ctx, cfg)
	if err == nil {
		c.clients = append(c.clients, client)
	}
	return client, err
}

// hangUp ends all clients.
func (c *Cluster) hangUp() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	for _, client := range c.clients {
		if err := client.Shutdown(ctx); err != nil {
			c.t.Errorf("clustertest: %v", err)
		}
	}
}
