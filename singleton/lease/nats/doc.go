// Package nats keeps leases in a key-value bucket of NATS JetStream.
//
//	nc, err := nats.Connect("nats://a,nats://b,nats://c", nats.MaxReconnects(-1))
//	…
//	store, err := natslease.Open(ctx, nc, natslease.Config{Bucket: "leases"})
//	l, err := lease.New(store, "GlobalCounter", "node-1", lease.Settings{TTL: 30 * time.Second})
//
// # How a lease is kept
//
// A name has two keys, holder.NAME and token.NAME, and both stay for ever. The first one
// has a record: who holds the lease, with which token, for how long. The second one says up
// to which number tokens are used up. Every write is on the condition that the last
// revision of its key is the one that was read; of two that want the same, one reads again.
//
// An acquisition reads the record, takes a token by a write to the second key, and then
// writes the record: four requests. A renewal is one write, and so is a release, which
// leaves the record without a holder. An attempt to take what another holds is one read.
//
// Reads are answered by the leader of the stream, or by a server that still believes to be
// the leader: they may be out of date. Nothing is granted by what was read alone. The write
// that follows is refused when it was not the last, and a refusal of a renewal makes its
// holder read until it is sure. The worst that an old answer does is to call a lease held
// that has just become free, until the next attempt.
//
// When an answer is lost, nobody knows: a request that is not answered for 2 s is repeated
// as long as the context lasts, and begins with a read again. A holder that finds itself in
// the record has got the lease. A write that arrives late, as the connection keeps requests
// while it is down, is still under its condition.
//
// # Whose clock
//
// Each contender's own: a lease of another has expired when the contender has seen the same
// record for as long as the record says that it lasts, by its own monotonic clock. No clocks
// of two machines are compared, and those of the servers play no part, however far they
// jump and whichever of them leads. Only rates must agree, within the Drift of
// [lease.Settings]. So a process that sees a lease for the first time waits its full
// duration, even if the holder has been dead for long; a release is seen at once.
//
// NATS can let a message expire by itself. This is not used: the servers count from the time
// of day at which one of them has stored it, by the time of day of the one that leads then.
//
// # The token
//
// The token is one more than the last one or the floor, whichever is greater. It is greater
// than all before, for these reasons. Each token of a grant was taken from the second key
// before the record was written, and each write there has a greater number than the one
// that it replaces. Whoever writes a record has read the one before and then taken its
// token; so its token was taken after that of the one before, or the write was refused.
//
// Deletions do not harm that. The record has the token, too, so that either key may be
// missing. When both are, or the whole name was purged, the revision of the deletion, or of
// a first and empty write, takes the place of the number. It is the sequence number of the
// stream, which never goes back: every token was taken by a write of its own, so the tokens
// are never ahead of it, unless a floor has put them there.
//
// Tokens do fall back when the stream itself does: when it is deleted, restored from a
// backup, or has lost its end. And when both keys of a name are deleted whose tokens were
// raised by a floor above the revisions of the bucket, as of another store.
//
// # What it needs of the servers
//
// Three servers, and sync_interval: always in the jetstream block of each. By default NATS
// acknowledges what is not on the disk yet, and syncs every two minutes. Then a failure of
// the power of one server, if it is alone, or of all three, takes back what was granted in
// that time: a lease may have two holders, with the same token, until the first one fails to
// renew. With one server that syncs always, its end is an outage; its disk is all there is.
// As of 2026 there are open reports of acknowledged writes lost by the deferred sync
// (nats-server #7564), of loss when members change during partitions even with sync always
// (#7545), and of a split brain after the power of one node failed (#7567): etcd and
// PostgreSQL are the better places where an error is expensive. What must not be harmed has
// to refuse lower tokens in any case.
//
// When the server that leads the stream dies, the others elect one after 4 to 9 s, during
// which nothing is renewed. With the default TTL of 15 s a holder is sure to bear 9.75 s
// only; 30 s leave enough. A server that is shut down hands over before, in a fraction of a
// second, if another is up to date.
//
// It is tested with servers 2.15, alone and three together. [Open] makes the bucket, and
// checks one that is there: `nats kv add` makes one that is good, if neither a TTL nor
// memory is chosen. The connection should reconnect for ever, as in the example.
//
// # Privileges
//
// An administrator makes the bucket, and the user of the programs needs no more than this:
//
//	publish: ["$JS.API.STREAM.INFO.KV_leases", "$JS.API.STREAM.MSG.GET.KV_leases", "$KV.leases.>"]
//	subscribe: ["_INBOX.>"]
//
// To make it, Open needs $JS.API.INFO and $JS.API.STREAM.CREATE.KV_leases as well. What may
// not be published, servers leave without an answer: a request ends with its context then,
// and the error has what the server has told the connection.
//
// # Testing
//
// Programs test with lease.NewMemory. The tests with servers are a module of their own,
// natstest.
package nats
