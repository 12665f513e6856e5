package cluster

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/membership"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/stderrlog"
	"github.com/understudy-go/understudy/remote"
)

// Downing decides who goes on when the cluster is split; see package downing.
type Downing = downing.Strategy

// Config says what a node is to be. The zero value is a cluster of one on a free port of
// the loopback interface; in production set Bind, and the same Name and Seeds on all
// nodes.
type Config struct {
	// Name is the name of the cluster, and of the actor system of each of its nodes. Nodes
	// of different names do not talk. The default is "understudy".
	Name string

	// NodeID names this node for people and for placing things; no two members may have
	// the same. It survives restarts. The default is the advertised address.
	NodeID string

	// Bind is the host:port to listen at, by TCP and by UDP; port 0 picks a free one. The
	// default is "127.0.0.1:0".
	Bind string

	// Advertise is the host:port at which others reach this node, where it differs from
	// Bind.
	Advertise string

	// Seeds are the addresses of nodes to join, in the same order on every node. A cluster
	// is founded by the first of them alone, and only when each of the others has answered
	// that it is in none, or refuses connections. Without seeds this node is the first.
	//
	// Where lists differ, a node that does not begin its own is not the first. Nodes that all
	// are so, and name each other, directly or by way of others, and nobody else, found a cluster
	// as a group: the lowest of their addresses does, when all of them have answered. So two nodes
	// may name just the other one. Who names nodes of a group joins.
	//
	// When the first seed is lost for good while there is no cluster, start one of the others with
	// a list that begins with itself and leaves out what is lost; or see [Node.FoundWithout].
	//
	// A seed may be given by a name of its host, which is resolved whenever it is dialled,
	// and may be this very node; but it must be one node: who dials a name of several reaches
	// any of them, perhaps itself, and would found a cluster of its own. So Start refuses
	// names that have several addresses. For them there is Discovery.
	//
	// A node never joins a second cluster while it is a member of one. When a seed of a member
	// turns out to live in another cluster of the same Name, the two become one by rule: the
	// one with fewer members that are up dissolves, of equal ones that with the greater
	// cluster ID, and its nodes join the other as new incarnations.
	Seeds []string

	// Discovery finds further seeds while the node runs: see package discovery, and
	// docs/discovery.md for Kubernetes. It is asked every second until the node is in a
	// cluster, and then every half a minute, so that clusters that were founded apart meet.
	//
	// With Discovery, the lowest of all addresses, of those found and of Seeds, founds a
	// cluster, once MinSeeds nodes are found, nothing new has been found or been missing for
	// five seconds, and each of them has answered that it is in none, or refuses connections.
	// An address that is not found any more need not answer. The default is none.
	Discovery Discovery

	// MinSeeds is how many nodes, this one included, Discovery and Seeds must have found
	// before a cluster may be founded. Two nodes that do not find each other yet would found
	// two, each for itself; so set it to more than half of the nodes that are started, and on
	// all of them to the same. The default is 2. With 1, a node that finds nobody else founds a
	// cluster after five seconds. Without Discovery it means nothing.
	MinSeeds int

	// ForceForm founds a cluster although a seed does not answer, or too few are found, when
	// nobody has let this node in for five seconds. It is for an operator who knows that
	// there is no cluster: after a disaster, when the hosts of seeds will not return. Set it
	// on one node, and take it out once that is up. If there is a cluster that the node cannot
	// reach, there are two of them until they meet, when the smaller one dissolves. A node
	// that has been a member since its process started never does it.
	ForceForm bool

	// Roles say what a node is for; singletons can be bound to one.
	Roles []string

	// Meta is shown to the other members.
	Meta map[string]string

	// TLS makes nodes prove to each other who they are, by certificates, on all they say.
	// It needs a certificate that is good for servers and clients and for the host of the
	// address that this node advertises, and RootCAs and ClientCAs; see remote.Config.TLS.
	// All nodes need it, or none.
	TLS *tls.Config

	// Secret makes nodes prove to each other that they have it, instead of TLS. It must be
	// random, and of 16 bytes or more: openssl rand -base64 32 makes one. Who has it can
	// pass for any node. All nodes need it, or none.
	Secret []byte

	// OldSecrets are accepted of other nodes as well. While a secret is being changed, it
	// is the old one here, or the next one; see [Node.Keyring] for how to do it without a
	// restart.
	OldSecrets [][]byte

	// Detector says how quickly a silent member becomes unreachable. The default is [LAN].
	Detector Detector

	// Downing decides about unreachable members. It must be the same on all nodes, and wait
	// long enough for Detector; see [Config.Expected]. The default is downing.KeepMajority.
	// A strategy without a StableAfter of its own gets one that fits Detector: three seconds
	// with [LAN], eight with [WAN]. To change it in rolling restarts, see downing.Transition.
	// docs/downing.md helps to choose.
	Downing Downing

	// Leader is who is preferred as leader and as host of singletons. The default is
	// [Oldest]. It must be the same on all nodes: stop all of them to change it.
	Leader LeaderElection

	// MinMembers is how many members must have come together before the first is up. Once
	// one is, it does not matter any more, and nodes with another value are let in; before,
	// it must be the same on all nodes. The default is 1.
	MinMembers int

	// MinMembersOf is, by role, how many members with that role there must be among them.
	// Until the first is up, it must be the same on all nodes. The default is none.
	MinMembersOf map[string]int

	// StayDown ends the node when the cluster has given it up: its actors are stopped, which
	// actor.System.Terminated tells; then Leave closes its ports. Otherwise it stops its
	// singletons and joins again, as a new incarnation.
	StayDown bool

	// Traffic limits what this node and others say to each other: the size of messages, what
	// waits for a node, connections. The zero value is good for most.
	Traffic Traffic

	// Network is nil for the TCP and UDP of the operating system. Tests pass one in memory.
	Network remote.Network

	// Clock is nil for the operating system's. Tests pass one that runs fast or slow.
	Clock Clock

	// Logger is nil for one that writes warnings and errors to standard error; zap.NewNop()
	// logs nothing.
	Logger *zap.Logger

	// SystemOptions are further options of the actor system of the node, such as
	// extension.WithEncoding in tests. The default is none.
	SystemOptions []actor.Option
}

// DefaultName is the name of a cluster that is given none.
const DefaultName = "understudy"

// stopTime is how long an instance may take to stop on a node that is cut off, before one
// that fences nothing is started elsewhere.
const stopTime = 10 * time.Second

// withDefaults returns c with its zero values replaced.
func (c Config) withDefaults() Config {
	c.Name = cmp.Or(c.Name, DefaultName)
	c.Bind = cmp.Or(c.Bind, "127.0.0.1:0")
	c.Detector = membership.WithDefaults(c.Detector)
	if c.Downing == nil {
		c.Downing = downing.KeepMajority{}
	}
	c.Downing = downing.OrStableAfter(c.Downing, membership.StableAfter(c.Detector))
	if c.Leader.Compare == nil {
		c.Leader = Oldest()
	}
	c.Traffic = c.Traffic.withDefaults()
	c.MinMembers = cmp.Or(c.MinMembers, 1)
	c.MinSeeds = cmp.Or(c.MinSeeds, 2)
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	if c.Logger == nil {
		c.Logger = stderrlog.New()
	}
	return c
}

// validate says what is wrong with c and what to do about it.
func (c Config) validate() error {
	switch {
	case naming.CheckSystem(c.Name) != nil:
		return fmt.Errorf("cluster: Config.Name %q %w; it must be letters, digits and -_.:~+, as it becomes part of the paths of actors", c.Name, naming.CheckSystem(c.Name))
	case c.TLS != nil && c.Secret != nil:
		return errors.New("cluster: Config.TLS and Config.Secret are both set; a node has one identity, leave out one of them")
	case c.Secret == nil && len(c.OldSecrets) > 0:
		return errors.New("cluster: Config.OldSecrets is set without Config.Secret; set the one that is to be used")
	case c.Leader.Name == "":
		return errors.New("cluster: Config.Leader has an order but no Name; give it one, by which nodes can tell whether they agree")
	case naming.Check(c.Leader.Name) != nil:
		return fmt.Errorf("cluster: the Name %q of Config.Leader %w", c.Leader.Name, naming.Check(c.Leader.Name))
	}
	if c.MinSeeds < 0 {
		return fmt.Errorf("cluster: Config.MinSeeds is %d; set it to more than half of the nodes that are started", c.MinSeeds)
	}
	if err := c.Traffic.validate("Config"); err != nil {
		return err
	}
	if _, err := c.keyring(); err != nil {
		return err
	}
	if err := membership.CheckSelf(c.NodeID, c.Roles, c.Meta); err != nil {
		return fmt.Errorf("cluster: Config.NodeID, Roles and Meta: %w", err)
	}
	if c.MinMembers < 0 {
		return fmt.Errorf("cluster: Config.MinMembers is %d; it counts members, so give it 1 or more, or 0 for the default", c.MinMembers)
	}
	for role, least := range c.MinMembersOf {
		if least < 0 || naming.Check(role) != nil {
			return fmt.Errorf("cluster: Config.MinMembersOf[%q] is %d; name a role, and how many members must have it, 0 or more", role, least)
		}
	}
	for _, seed := range c.Seeds {
		if err := checkNodeAddress(seed); err != nil {
			return fmt.Errorf("cluster: Config.Seeds: %q is not the host:port of a node: it %w", seed, err)
		}
	}
	if err := naming.CheckHostPort(c.Bind); err != nil {
		return fmt.Errorf("cluster: Config.Bind: %q is not a host:port to listen at: it %w", c.Bind, err)
	}
	if c.Advertise != "" {
		if err := naming.CheckHostPort(c.Advertise); err != nil {
			return fmt.Errorf("cluster: Config.Advertise: %q is not the host:port of a node: it %w", c.Advertise, err)
		}
	}
	if err := membership.CheckElection(c.Leader); err != nil {
		return err
	}
	if err := validateDowning(c.Downing); err != nil {
		return err
	}
	if err := membership.CheckDetector(c.Detector); err != nil {
		return err
	}
	return membership.CheckDelay(c.Detector, c.Downing)
}

// validateDowning says what is wrong with a strategy, if it can tell.
func validateDowning(d Downing) error {
	v, can := d.(interface{ Validate() error })
	if !can {
		return nil
	}
	if err := v.Validate(); err != nil {
		return fmt.Errorf("cluster: Config.Downing: %w", err)
	}
	return nil
}

// keyring returns the ring of the secrets, or nil without any.
func (c Config) keyring() (*remote.Keyring, error) {
	if c.Secret == nil {
		return nil, nil
	}
	ring, err := remote.NewKeyring(c.Secret, c.OldSecrets...)
	if err != nil {
		return nil, fmt.Errorf("cluster: Config.Secret: %w", err)
	}
	return ring, nil
}

// checkNodeAddress says what is wrong with the address of another node, which has a host and a
// port.
func checkNodeAddress(address string) error {
	if err := naming.CheckHostPort(address); err != nil {
		return err
	}
	if host, port, err := net.SplitHostPort(address); err != nil || host == "" || strings.Trim(port, "0") == "" {
		return errors.New("has no host, or no port")
	}
	return nil
}

// margin is how long something may still run on a member that was removed without a sign
// that it has stopped: it may learn later than we that it is to stop, and then takes a while.
func (c Config) margin() time.Duration {
	return max(c.Downing.Delay(), 0) + c.Downing.Skew() + stopTime
}
