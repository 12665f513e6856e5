package jetstream

import (
	"cmp"
	"context"

	"github.com/nats-io/nats.go"

	"github.com/understudy-go/understudy/persistence/jetstream/internal/leases"
	"github.com/understudy-go/understudy/singleton/lease"
)

// DefaultLeasesBucket is the default of LeasesConfig.Bucket.
const DefaultLeasesBucket = "understudy-leases"

// A LeasesConfig names the bucket of [Leases]. The zero value suits a cluster of three or more
// servers.
type LeasesConfig struct {
	// Bucket is the name of the key-value bucket: letters, digits, '-' and '_'. All contenders for
	// a name must have the same bucket. The default is [DefaultLeasesBucket].
	Bucket string

	// Replicas is the number of servers that store the bucket when OpenLeases makes it: 1, 3 or 5.
	// An existing bucket must have at least as many. The default is 3.
	Replicas int

	// Domain is the JetStream domain. The default is the domain of the server.
	Domain string
}

// ErrOverflow: the token of a lease does not fit into 64 bits. No counter gets that far: the floor
// of the claim is wrong. Use another name for the lease.
var ErrOverflow = leases.ErrOverflow

var _ lease.Store = (*Leases)(nil)

// Leases is a [lease.Store] in a key-value bucket. Its methods may be called from any goroutine,
// and return when their context ends. All leases of a process should share one Leases, because it
// remembers how long it has seen each record. Make it with [OpenLeases].
//
// Each contender uses its own clock: a lease of another holder has expired when the contender has
// seen the same record for the record's duration. The clocks of two machines are never compared,
// and the servers' clocks do not matter. Only rates must agree, within the Drift of
// [lease.Settings]. A process that sees a lease for the first time therefore waits its full
// duration, even if the holder died long ago. A release is seen at once.
//
// Tokens start again if the stream does: when it is deleted, restored from a backup, or has lost
// its end. They also do if both keys of a name are deleted after a floor, for example of another
// store, has raised its tokens above the revisions of the bucket.
//
// The servers must have sync_interval: always, as for a journal. Otherwise a power failure takes
// back the grants of up to two minutes: a lease may have two holders with the same token, until the
// first one fails to renew. Whatever must not be harmed has to refuse lower tokens.
//
// When the server that leads the stream dies, the others elect a leader after 4 to 9 s, and no
// lease is renewed until then. With the default TTL of 15 s a holder certainly survives only 9.75
// s; 30 s is enough.
type Leases struct{ store *leases.Store }

// OpenLeases opens the bucket of config, and creates it if it does not exist. It fails if the
// bucket exists and its configuration allows it to drop entries. `nats kv add` creates a suitable
// bucket, unless a TTL or memory storage is chosen. The connection should reconnect for ever, with
// nats.MaxReconnects(-1). The caller closes it when no lease needs it any more. While no server
// answers, as during the election of a leader, OpenLeases waits for 30 s at most.
//
// If an administrator creates the bucket, the user of the programs needs only
//
//	publish: ["$JS.API.STREAM.INFO.KV_leases", "$JS.API.STREAM.MSG.GET.KV_leases", "$KV.leases.>"]
//	subscribe: ["_INBOX.>"]
//
// To create it, OpenLeases also needs $JS.API.INFO and $JS.API.STREAM.CREATE.KV_leases. Servers do
// not answer a request without permission: it ends with its context, and the error contains what
// the server has sent to the connection.
func OpenLeases(ctx context.Context, nc *nats.Conn, config LeasesConfig) (*Leases, error) {
	config.Bucket = cmp.Or(config.Bucket, DefaultLeasesBucket)
	config.Replicas = cmp.Or(config.Replicas, 3)
	store, err := leases.Open(ctx, nc, leases.Config(config))
	if err != nil {
		return nil, err
	}
	return &Leases{store}, nil
}

// Take implements [lease.Store]. It returns [ErrOverflow] when no token is left.
func (l *Leases) Take(ctx context.Context, c lease.Claim) (lease.Grant, error) {
	return l.store.Take(ctx, c)
}

// Renew implements [lease.Store].
func (l *Leases) Renew(ctx context.Context, g lease.Grant) (lease.Grant, error) {
	return l.store.Renew(ctx, g)
}

// Release implements [lease.Store].
func (l *Leases) Release(ctx context.Context, g lease.Grant) error { return l.store.Release(ctx, g) }
