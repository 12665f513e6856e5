package cluster

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/stderrlog"
	"github.com/understudy-go/understudy/remote"
)

// ClientConfig says which cluster a client talks to. Contacts are required.
type ClientConfig struct {
	// Name is that of the cluster, as in [Config]. The default is "understudy".
	Name string

	// Contacts are the addresses of nodes, of which one has to answer. They are tried in this
	// order. Each may be another address of a node than the one that it advertises, and may
	// lead to any of several nodes, as that of a load balancer does.
	Contacts []string

	// TLS and Secret are as in [Config], and as on the nodes. The certificate of a client has
	// to be signed by one of the authorities that nodes accept; it need not be for any host.
	TLS    *tls.Config
	Secret []byte

	// OldSecrets are accepted of nodes as well, while a secret is being changed.
	OldSecrets [][]byte

	// Traffic is as in [Config]; a client accepts no connections, so MaxStrangers has no effect.
	Traffic Traffic

	// Network is nil for the TCP of the operating system. Tests pass one in memory.
	Network remote.Network

	// Logger is nil for one that writes warnings and errors to standard error; zap.NewNop()
	// logs nothing.
	Logger *zap.Logger

	// SystemOptions are as in [Config].
	SystemOptions []actor.Option
}

func (c ClientConfig) withDefaults() ClientConfig {
	c.Name = cmp.Or(c.Name, DefaultName)
	c.Traffic = c.Traffic.withDefaults()
	if c.Logger == nil {
		c.Logger = stderrlog.New()
	}
	return c
}

// validate says what is wrong with c and what to do about it.
func (c ClientConfig) validate() error {
	switch {
	case naming.CheckSystem(c.Name) != nil:
		return fmt.Errorf("cluster: ClientConfig.Name %q is no name of a cluster, as it %w", c.Name, naming.CheckSystem(c.Name))
	case len(c.Contacts) == 0:
		return errors.New("cluster: ClientConfig.Contacts is empty; give the host:port of one node, or better of several")
	case c.TLS != nil && c.Secret != nil:
		return errors.New("cluster: ClientConfig.TLS and ClientConfig.Secret are both set; leave out the one that nodes do not have")
	case c.Secret == nil && len(c.OldSecrets) > 0:
		return errors.New("cluster: ClientConfig.OldSecrets is set without ClientConfig.Secret; set the one that is to be used")
	}
	for _, contact := range c.Contacts {
		if err := checkNodeAddress(contact); err != nil {
			return fmt.Errorf("cluster: ClientConfig.Contacts: %q is not the host:port of a node: it %w", contact, err)
		}
	}
	return c.Traffic.validate("ClientConfig")
}

// keyring returns the ring of the secrets, or nil without any.
func (c ClientConfig) keyring() (*remote.Keyring, error) {
	if c.Secret == nil {
		return nil, nil
	}
	ring, err := remote.NewKeyring(c.Secret, c.OldSecrets...)
	if err != nil {
		return nil, fmt.Errorf("cluster: ClientConfig.Secret: %w", err)
	}
	return ring, nil
}
