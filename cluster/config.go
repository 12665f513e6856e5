package cluster

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/naming"
	"github.com/understudy-go/understudy/internal/stderrlog"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton/lease"
)

// Downing decides which members are downed when the cluster is split. [Config.Downing] holds one;
// package downing has the strategies and documents their fields. It is an interface; see
// [downing.Strategy] for its methods.
type Downing = downing.Strategy

// Config configures a node. The zero value is a cluster of one node on a free port of the loopback
// interface. In production set Bind, and set Name and Seeds, or Discovery, to the same on all
// nodes. [Start] returns an error for a field that is out of its range.
type Config struct {
	// Name is the name of the cluster, and of the actor system of each of its nodes. Nodes of
	// different names do not connect. It has 1 to 255 letters, digits and -_.:~+, and does not
	// begin with $. The default is "understudy".
	Name string

	// NodeID is the unique, stable name of this node: the same after each restart. Logs and views
	// show it, and options that place an actor on one node refer to it. It has 1 to 255 bytes of
	// UTF-8 without control characters. Start refuses a second node with the name of a living
	// member after three seconds. The default is the advertised address.
	NodeID string

	// Bind is the host:port to listen at, by TCP and by UDP. Port 0 picks one that is free for
	// both. The default is "127.0.0.1:0".
	Bind string

	// Advertise is the host:port at which others reach this node, at most 255 bytes. The host must
	// not be empty or stand for all interfaces, as 0.0.0.0 does. Port 0 stands for the bound port.
	// Advertise is required if Bind names no single interface. The default is the bound address.
	Advertise string

	// Seeds are the addresses of nodes to join, each a host:port, in the same order on every node.
	// Any member lets a node join. If there is no cluster, the first seed founds one, but only when
	// each of the others has answered that it is in no cluster, or refuses connections.
	//
	// Without Seeds and Discovery, this node founds a cluster by itself and logs a line about it.
	// The line is a warning if Bind or Advertise has a port other than 0, because other nodes may
	// then be meant to find this one. For a cluster of one node, list its own address.
	//
	// Lists may differ. A node counts as the first seed only if its own list begins with it. If no
	// list begins with its own node, the nodes that name each other, directly or through others,
	// and nobody else are a group. The node with the lowest address of the group founds the cluster
	// when all of them have answered. So two nodes may each name only the other one. A node that
	// only names nodes of a group joins them.
	//
	// If the first seed is lost for good while there is no cluster, restart another one with a list
	// that begins with itself and leaves out the lost one, or call [Node.FoundWithout].
	//
	// A host may be a name, which is resolved for each connection, and a seed may be this node. A
	// name must lead to one node: a node that dials a name of several nodes may reach itself and
	// found a cluster of its own. So Start refuses names that have several addresses of one family;
	// use Discovery for them.
	//
	// A node never joins a second cluster while it is a member of one. If a seed of a member turns
	// out to be in another cluster of the same Name, the two merge. The cluster with fewer members
	// that are up dissolves; if both have as many, the one with the greater cluster ID does. Its
	// nodes join the other one as new incarnations. By default there are no seeds.
	Seeds []string

	// Discovery finds further seeds while the node runs; see [Discovery], and
	// docs/discovery.md for Kubernetes. The node asks it every second until it is in a cluster, and
	// then every 30 seconds, so that clusters that were founded apart meet.
	//
	// With Discovery, the node with the lowest address, discovered or in Seeds, forms a cluster on
	// three conditions. At least MinSeeds nodes are known; these have not changed for five
	// seconds; and each has answered that it is in no cluster, or refuses connections. An address
	// that is not found any more need not answer. The default is none.
	Discovery Discovery

	// MinSeeds is the number of nodes, including this one, that Discovery and Seeds must have found
	// before a node founds a cluster. Set it to more than half of the nodes that you start, and to
	// the same on all of them: otherwise two groups that do not find each other yet may each found
	// a cluster. The default is 2. With 1, a node that finds no other founds a cluster after five
	// seconds. A negative value is an error, and so is any but 0 without Discovery.
	MinSeeds int

	// ForceForm makes this node found a cluster when no member has let it join for five seconds,
	// although a seed does not answer or too few nodes are found. It is for an operator who knows
	// that there is no cluster and that the hosts of seeds will not return, after a disaster. Set
	// it on one node, and remove it once that node is up. If there is a cluster that the node
	// cannot reach, there are two until they meet; then the smaller one dissolves. A node that has
	// been a member since its process started never founds a cluster by force. By default it is
	// off.
	ForceForm bool

	// Roles say what this node is for; options of singletons and of placement can require one. At
	// most 100 roles, each 1 to 255 bytes of UTF-8 without control characters. By default the node
	// has no role.
	Roles []string

	// Meta is metadata of this node that the other members see. It has at most 100 entries. A key
	// has 1 to 255 bytes without control characters; key and value together have at most 4096
	// bytes; both are UTF-8. By default it is empty.
	Meta map[string]string

	// AppVersion is the version of the application on this node, such as "1.4.0". Members, events,
	// logs and the status page show it. Semantic versions, with a v at their beginning or without,
	// are compared as such. While members of two versions are up, placement puts actors on nodes of
	// the newer one, see docs/upgrades.md. It has at most 255 bytes of UTF-8, without control
	// characters. The default is "", which is neither older nor newer.
	AppVersion string

	// TLS authenticates nodes by certificates and encrypts all traffic between them. It needs a
	// certificate, RootCAs and ClientCAs. The certificate must be valid for servers and clients,
	// and for the host of the address that this node advertises. GetCertificate,
	// GetClientCertificate and GetConfigForClient are called for each connection, so certificates
	// can change. Set it on all nodes or on none, and not together with Secret. The default, nil,
	// is no TLS.
	TLS *tls.Config

	// Secret authenticates nodes by a shared secret instead of certificates, over the same
	// encryption. It must be random and have at least 16 bytes: openssl rand -base64 32 makes one.
	// Anyone who has it can pass for any node. Set it on all nodes or on none. The default, nil, is
	// no secret.
	Secret []byte

	// OldSecrets are further secrets that this node accepts from other nodes, at least 16 bytes
	// each. While you change the secret, put the old one here, or the next one; [Node.Keyring] does
	// it without a restart. Without Secret they are an error. By default there are no others.
	OldSecrets [][]byte

	// Detector says how quickly a silent member becomes unreachable; its type documents each field.
	// Fields that are zero have the values of LAN. The default is [LAN].
	Detector Detector

	// Downing decides about unreachable members; docs/downing.md helps to choose. It must be the
	// same on all nodes. The default is downing.KeepMajority. A strategy without a StableAfter of
	// its own gets one that fits Detector: three seconds with [LAN], eight with [WAN]. Start
	// refuses a strategy that decides before all members can know of a failure; see
	// [Config.Expected]. To change it by rolling restarts, see downing.Transition.
	Downing Downing

	// Leader is the order in which members are preferred as leader and as host of singletons. It
	// must be the same on all nodes: stop all of them to change it. The default is [Oldest].
	Leader LeaderElection

	// Journal is where the coordinators of sharding and placement and the schedules of cron keep
	// what the next host of each must know. All nodes must share it, as the processes of one
	// machine share one of persistence/sqlite, or any nodes one of persistence/postgres. Entities
	// and singletons that are event-sourced have the journal that they are given, which may be the
	// same. The caller closes it, after the node has left. The default, nil, is no journal:
	// placement and cron do not start, and sharding forgets what it knows when all nodes have
	// stopped; see persistence.ErrNoJournal.
	Journal journal.Journal

	// Leases returns a lease for each singleton that this node spawns without singleton.WithLease.
	// Each type of entities that it starts without sharding.WithLease has one, too, and so has
	// downing.LeaseMajority without a Lease. The name of a lease is Name, "-singleton-" and the
	// name of the singleton, or Name, "-sharding-", the type, "/" and the name of the node, or Name
	// and "-downing". The owner is the advertised address of this node. Return a new handle for
	// each call, usually from lease.New with a store that all nodes share. Leases must not block.
	//
	// If it returns an error or nil, the node calls it again after singleton.LeaseRetry, or for a
	// type of entities after 5 s; meanwhile the node hosts neither the singleton nor the type. The
	// error is logged, and is part of singleton.Status and of the errors of asks: for a type, of
	// asks on the nodes that have no lease, while the shard has no home. For downing it is the
	// error of Start, and so is a TTL that is not longer than LeaseMajority.ReleaseAfter.
	//
	// Set Leases on all nodes or on no node: a singleton with a lease does not match one without.
	// Types of entities need Journal as well. The default, nil, is no lease.
	Leases func(name, owner string) (lease.Lease, error)

	// MinMembers is the number of members that must have joined before the first becomes up. Until
	// then it must be the same on all nodes; afterwards it has no effect, and nodes with another
	// value may join. A negative value is an error. The default is 1.
	MinMembers int

	// MinMembersOf says how many of those members must have each role. Until the first
	// member is up, it must be the same on all nodes. A negative number is an error. The default is
	// none.
	MinMembersOf map[string]int

	// StayDown ends the node when the cluster has downed it: its actors stop, which
	// actor.System.Terminated reports, and the ports close. Call Leave to wait for that. By default
	// such a node stops its singletons and rejoins as a new incarnation.
	StayDown bool

	// Strict refuses mistakes that this node otherwise only warns of: a journal in memory while the
	// cluster has a member in another process, which would find nothing of it after a failover. An
	// actor with such a journal then does not start, with persistence.ErrInMemory. One that runs
	// already fails with it at its next command. Set it in production. By default it is off.
	Strict bool

	// KeepDeadLetters is how many messages of its last dead letters this node keeps, so that they
	// can be sent again: see docs/status.md. It keeps them encoded and in memory, 16 MiB at most.
	// Each dead letter then costs the encoding of its message, whose type must be registered. The
	// limit is 10,000; Start refuses more, and a negative number. The default, 0, keeps none: the
	// node then only lists its dead letters.
	KeepDeadLetters int

	// Traffic limits the traffic between this node and others: sizes of messages, queues and
	// connections. By default each of its fields has its own default.
	Traffic Traffic

	// ClientsReach reports whether messages of clients, see [Dial], may reach the actor at path on
	// this node, such as "/user/orders/7". It is asked for each message of a client to an actor
	// below "/user/", singletons included, by several goroutines, and must be fast. A message that
	// it refuses, or for which it panics, becomes a dead letter on this node with
	// remote.ErrPrivate; an ask of the client ends with the same error. Watching is not limited: a
	// client is told of the end of any actor that it watches. ClientsReach prevents mistakes, not
	// attacks: see docs/client.md. The default, nil, lets clients reach every actor.
	ClientsReach func(path string) bool

	// Network opens listeners and connections. The default, nil, is the TCP and UDP of the
	// operating system. Tests pass one in memory.
	Network remote.Network

	// Clock measures the node's time. The default, nil, is the clock of the operating system. Tests
	// pass one that runs fast or slow.
	Clock Clock

	// Logger receives the log. The default, nil, writes warnings and errors to standard error;
	// zap.NewNop() logs nothing.
	Logger *zap.Logger

	// SystemOptions are further options of the node's actor system, such as otel.WithTracing. The
	// default is none.
	SystemOptions []actor.Option
}

// DefaultName is the name of a cluster whose Config.Name is empty.
const DefaultName = "understudy"

const maxKeepDeadLetters = 10_000

// stopTime is how long an instance may take to stop on a node that is cut off, before an unfenced
// one starts elsewhere.
const stopTime = 10 * time.Second

func (c Config) withDefaults() Config {
	c.Name = cmp.Or(c.Name, DefaultName)
	c.Bind = cmp.Or(c.Bind, "127.0.0.1:0")
	c.Detector = Detector(membership.WithDefaults(membership.Detector(c.Detector)))
	if c.Downing == nil {
		c.Downing = downing.KeepMajority{}
	}
	c.Downing = downing.OrStableAfter(c.Downing, membership.StableAfter(membership.Detector(c.Detector)))
	if c.Leader.Compare == nil {
		c.Leader = Oldest()
	}
	c.Traffic = c.Traffic.withDefaults()
	c.MinMembers = cmp.Or(c.MinMembers, 1)
	if c.Discovery != nil {
		c.MinSeeds = cmp.Or(c.MinSeeds, 2)
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	if c.Logger == nil {
		c.Logger = stderrlog.New()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case naming.CheckSystem(c.Name) != nil:
		return fmt.Errorf("cluster: Config.Name %q %w; it must be %s, as it becomes part of the paths of actors", c.Name, naming.CheckSystem(c.Name), naming.OfSystem)
	case c.TLS != nil && c.Secret != nil:
		return errors.New("cluster: Config.TLS and Config.Secret are both set; a node has one identity, leave out one of them")
	case c.Secret == nil && len(c.OldSecrets) > 0:
		return errors.New("cluster: Config.OldSecrets is set without Config.Secret; set the one that is to be used")
	case c.Leader.Name == "":
		return errors.New("cluster: Config.Leader has an order but no Name; give it one, by which nodes can tell whether they agree")
	case naming.Check(c.Leader.Name) != nil:
		return fmt.Errorf("cluster: the Name %q of Config.Leader %w", c.Leader.Name, naming.Check(c.Leader.Name))
	}
	if c.MinSeeds != 0 && c.Discovery == nil {
		return fmt.Errorf("cluster: Config.MinSeeds is %d, but it belongs to Discovery, which is not set; leave it out, or set Discovery", c.MinSeeds)
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
	if err := membership.CheckAppVersion(c.AppVersion); err != nil {
		return fmt.Errorf("cluster: Config.AppVersion: %w", err)
	}
	if c.KeepDeadLetters < 0 || c.KeepDeadLetters > maxKeepDeadLetters {
		return fmt.Errorf("cluster: Config.KeepDeadLetters is %d; it counts messages, so give it 1 to %d, or 0 to keep none", c.KeepDeadLetters, maxKeepDeadLetters)
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
		if err := naming.CheckNode(seed); err != nil {
			return fmt.Errorf("cluster: Config.Seeds: %q is not the host:port of a node: it %w", seed, err)
		}
	}
	if err := naming.CheckHostPort(c.Bind); err != nil {
		return fmt.Errorf("cluster: Config.Bind: %q is not a host:port to listen at: it %w", c.Bind, err)
	}
	if c.Advertise != "" {
		if err := naming.CheckAdvertised(c.Advertise); err != nil {
			return fmt.Errorf("cluster: Config.Advertise: %q is not an address at which others reach this node: it %w", c.Advertise, err)
		}
	}
	if err := membership.CheckElection(c.Leader.inside()); err != nil {
		return err
	}
	var later func() (lease.Lease, error) // the lease is made when the node has an address
	if c.Leases != nil {
		later = func() (lease.Lease, error) { return struct{ lease.Lease }{}, nil }
	}
	if _, err := withLease(c.Downing, later); err != nil {
		return err
	}
	if err := membership.CheckDetector(membership.Detector(c.Detector)); err != nil {
		return err
	}
	return membership.CheckDelay(membership.Detector(c.Detector), c.Downing)
}

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

// keyring returns the ring of the secrets, or nil without secrets.
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

// margin is how long an instance may still run on a member that was removed without a sign that it
// has stopped. That member may learn of its removal later than this node, and then takes time to
// stop.
func (c Config) margin() time.Duration {
	skew, _ := guard.Value(c.Downing.Skew)
	return max(membership.DelayOf(c.Downing), 0) + skew + stopTime
}
