// Package nats keeps leases in a key-value bucket of NATS JetStream.
//
//	nc, err := nats.Connect("nats://a,nats://b,nats://c", nats.MaxReconnects(-1))
//	…
//	store, err := natslease.Open(ctx, nc, natslease.Config{Bucket: "leases"})
//	l, err := lease.New(store, "GlobalCounter", "node-1", lease.Settings{TTL: 30 * time.Second})
//
// # How a lease is kept
//
// A name has two keys, holder.NAME and token.NAME, which are never deleted. The first has a record:
// the holder of the lease, its token, and its duration. The second says up to which number tokens
// are used up. Every write is conditional on the revision that was read. If two contenders write at
// once, one reads again.
//
// An acquisition takes four requests: it reads the record, takes a token by a write to the second
// key, and then writes the record. A renewal is one write, and so is a release, which leaves the
// record without a holder. An attempt to take a lease that another holds is one read.
//
// Reads are answered by the leader of the stream, or by a server that still believes to be the
// leader, so they may be out of date. A read alone grants nothing. The write that follows is
// refused if the record has changed, and a refused renewal makes the holder read until it is
// certain. At worst an old answer shows a lease as held that has just become free, until the next
// attempt.
//
// A request that is not answered for 2 s is repeated as long as the context lasts, beginning with a
// read. A holder that finds itself in the record has the lease. A write may arrive late, because
// the connection keeps requests while it is down; its condition still applies.
//
// # Clocks
//
// Each contender uses its own: a lease of another holder has expired when the contender has seen
// the same record for the record's duration, by its own monotonic clock. The clocks of two machines
// are never compared, and the servers' clocks do not matter. Only rates must agree, within the
// Drift of [lease.Settings]. A process that sees a lease for the first time therefore waits its
// full duration, even if the holder died long ago. A release is seen at once.
//
// The store does not use NATS's expiry of messages: the servers count from the time of day at which
// one of them stored a message, by the time of day of the present leader.
//
// # The token
//
// The token is one more than the last token or the floor, whichever is greater. It is greater than
// all before, for two reasons. Each write to the second key has a greater number than the one that
// it replaces, and the token is taken there before the record is written. A contender reads the
// record before it takes its token, so its token is later than the record's, or its write is
// refused.
//
// Deletions do no harm. The record contains the token as well, so either key may be missing. If
// both are, or the whole name was purged, the number is the revision of the deletion, or of a first
// and empty write. It is the sequence number of the stream, which never decreases. Every token was
// taken by a write of its own, so tokens are never ahead of it, unless a floor has raised them.
//
// Tokens do start again if the stream itself does: when it is deleted, restored from a backup, or
// has lost its end. They also do if both keys of a name are deleted after a floor, for example of
// another store, has raised its tokens above the revisions of the bucket.
//
// # Requirements
//
// Three servers, with sync_interval: always in the jetstream block of each. By default NATS
// acknowledges writes that are not on the disk yet, and syncs every two minutes. A power failure of
// a single server, or of all three, then takes back the grants of that time. A lease may have two
// holders with the same token, until the first one fails to renew. With one server that always
// syncs, its failure is an outage, and its disk is the only copy.
//
// As of 2026 three reports are open: acknowledged writes lost by the deferred sync (nats-server
// #7564), losses when members change during partitions even with sync always (#7545), and a split
// brain after a power failure of one node (#7567). If an error is expensive, use etcd or
// PostgreSQL. In any case, whatever must not be harmed has to refuse lower tokens.
//
// When the server that leads the stream dies, the others elect a leader after 4 to 9 s, and no
// lease is renewed until then. With the default TTL of 15 s a holder certainly survives only 9.75
// s; 30 s is enough. A server that is shut down hands over first, in a fraction of a second, if
// another is up to date.
//
// The store is tested with servers 2.15, one and three together. [Open] creates the bucket, or
// checks an existing one. `nats kv add` creates a suitable bucket, unless a TTL or memory storage
// is chosen. The connection should reconnect for ever, as in the example.
//
// # Privileges
//
// If an administrator creates the bucket, the user of the programs needs only
//
//	publish: ["$JS.API.STREAM.INFO.KV_leases", "$JS.API.STREAM.MSG.GET.KV_leases", "$KV.leases.>"]
//	subscribe: ["_INBOX.>"]
//
// To create it, Open also needs $JS.API.INFO and $JS.API.STREAM.CREATE.KV_leases. Servers do not
// answer a request without permission: it ends with its context, and the error contains what the
// server has sent to the connection.
//
// # Testing
//
// Programs test with lease.NewMemory. The tests with servers are in natstest, a module of its own.
package nats
