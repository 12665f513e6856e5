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

// Dial connects a client to the running nodes from a host with that name, and returns it. The
// client is shut down when the test ends, unless it has been before. Faults of the network apply
// to its host as well.
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

// TryDial is like [Cluster.Dial], and returns an error if the client gets no answer.
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
