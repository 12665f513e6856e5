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

// ClientConfig configures a client. Contacts is required. [Dial] returns an error for a field that
// is out of its range.
type ClientConfig struct {
	// Name is the name of the cluster, as in [Config]. The default is "understudy".
	Name string

	// Contacts are addresses of nodes, each a host:port; one of them must answer. The client tries
	// them in this order. An address may differ from the one that the node advertises, and may lead
	// to any of several nodes, like the address of a load balancer. Required.
	Contacts []string

	// TLS is as in [Config], and set as on the nodes; TLS or Secret, not both. The
	// certificate of a client must be signed by an authority that nodes accept; it need not be
	// valid for a host. The default, nil, is no TLS.
	TLS *tls.Config

	// Secret is as in [Config], at least 16 bytes. The default, nil, is no secret.
	Secret []byte

	// OldSecrets are further secrets that the client accepts from nodes while a secret is being
	// changed. Without Secret they are an error. By default there are no others.
	OldSecrets [][]byte

	// Traffic is as in [Config]. A client accepts no connections, so MaxUnauthenticated and
	// MaxUnauthenticatedPerHost have no effect. By default each field has its own default.
	Traffic Traffic

	// Network opens connections. The default, nil, is the TCP of the operating system. Tests pass
	// one in memory.
	Network remote.Network

	// Logger receives the log. The default, nil, writes warnings and errors to standard error;
	// zap.NewNop() logs nothing.
	Logger *zap.Logger

	// SystemOptions are further options of the client's actor system, as in [Config]. By default
	// there are no others.
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

func (c ClientConfig) validate() error {
	switch {
	case naming.CheckSystem(c.Name) != nil:
		return fmt.Errorf("cluster: ClientConfig.Name %q is no name of a cluster, as it %w; it must be %s", c.Name, naming.CheckSystem(c.Name), naming.OfSystem)
	case len(c.Contacts) == 0:
		return errors.New("cluster: ClientConfig.Contacts is empty; give the host:port of one node, or better of several")
	case c.TLS != nil && c.Secret != nil:
		return errors.New("cluster: ClientConfig.TLS and ClientConfig.Secret are both set; leave out the one that nodes do not have")
	case c.Secret == nil && len(c.OldSecrets) > 0:
		return errors.New("cluster: ClientConfig.OldSecrets is set without ClientConfig.Secret; set the one that is to be used")
	}
	for _, contact := range c.Contacts {
		if err := naming.CheckNode(contact); err != nil {
			return fmt.Errorf("cluster: ClientConfig.Contacts: %q is not the host:port of a node: it %w", contact, err)
		}
	}
	return c.Traffic.validate("ClientConfig")
}

// keyring returns the ring of the secrets, or nil without secrets.
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
