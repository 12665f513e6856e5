// Package leases keeps leases in a key-value bucket of NATS JetStream; see jetstream.Leases.
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
// The store does not use NATS's expiry of messages: the servers count from the time of day at which
// one of them stored a message, by the time of day of the present leader.
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
package leases
