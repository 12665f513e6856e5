// Package jetstream keeps events, snapshots and leases in NATS JetStream, for programs that use
// NATS already and want a replicated journal. [OpenLeases] opens the leases.
//
//	nc, err := nats.Connect("nats://a,nats://b,nats://c")
//	…
//	journal, err := jetstream.Open(ctx, nc, jetstream.Config{Stream: "bank", Durability: jetstream.SyncAlways})
//
// # Choose the durability
//
// By default, NATS servers acknowledge messages before they are on the disk: they sync every two
// minutes. The guarantee of [journal.Journal] needs sync_interval: always in the jetstream block of
// the configuration of every server. A client cannot read that setting, so [Config] requires it:
// use [SyncAlways] if it is set, or give up the guarantee explicitly with [DeferredSync]. With
// [Config.System], a connection to the system account, [Open] checks the setting itself. Without
// DeferredSync, Open refuses a stream with persist mode async, which a client can see.
//
// # Known problems
//
// PostgreSQL is the better place for data that must not be lost. As of 2026, JetStream has these
// open reports: acknowledged writes lost by the deferred sync (nats-server #7564), loss when
// members change during partitions, even with sync always (#7545), and a split brain after a power
// failure of one node (#7567). Three replicas that do not sync survive the crash of a process, but
// not a common power failure.
//
// A server that finds a file damaged continues without an error. It drops the damaged message or,
// if it cannot find the next one, the rest of the file. We tested 200 flipped bits, 200 zeroed
// sectors and 200 torn files. No journal ever read anything that had not been appended, but some
// read less:
//
//   - If a message is lost and others of its id point to it, reading it fails with
//     [journal.ErrCorrupt]. If the last message of an id is lost and the server has others, reads
//     and claims fail with it, too. Flipped bits in subjects, heads and records had no other
//     effect.
//   - If a stream has lost its end and the server still knows the last number, [Open] fails with
//     [journal.ErrCorrupt], unless [Config.AcceptLoss] is set. This detected all torn files. A
//     projection that has read further fails, too.
//   - After a zeroed sector in the middle of a file, the server nearly always assumes that its
//     stream was never longer, until it is stopped cleanly and restarted. The remaining data does
//     not show that an id had more events. Only a [Journal] that has seen them fails, with
//     [journal.ErrUnavailable]. A flipped bit in the length of a message has the same effect.
//   - A server of version 2.15 that reads a message whose number has become too great allocates
//     memory until none is left.
//
// Three replicas protect against this as long as the damaged one is not the leader: the journal
// asks the leader for messages that a replica does not have.
//
// A single server that always syncs writes one message per sync, however many writers there are.
// Three servers share syncs between messages, and are faster with many writers.
//
// # How it writes
//
// A stream has one subject for each persistence id. Each claim, append, deletion and snapshot is
// one message there. It is stored only if the last message of the subject is the one that the
// writer knows. This condition makes each change atomic, and fences. The epoch is stored in the
// message of the claim: it is the last epoch plus one, or the least one that the bounds of the
// claim allow. Epochs can therefore equal the generations of singletons, which sequence numbers of
// the stream could not.
//
// Each message begins with a head: the epoch, the last sequence number, the end of the deleted
// records, and pointers to earlier records. The pointers lead to at most 32 of the last messages
// with records, and to the message that has the 32 pointers before those. A writer therefore needs
// only the last message. A recovery asks only for the messages of its id, by their numbers, however
// large the stream is. An id with more than about a sixteenth of the stream is read faster by a
// search for its subject; records that the search does not find in order are read through the
// pointers. The head is in the body and not in the headers, so that its checksum also covers the
// persistence id.
//
// A writer that recovers follows the pointers of its own claim. Any replica may answer; the journal
// asks the leader of the stream for messages that the replica does not have yet. The last message
// of a subject always comes from the leader.
//
// A writer that appends without a pause could prevent claims of its id for seconds, because a claim
// needs two requests and an append one. After a refused claim, the journal therefore asks the
// journals that append to the id to pause, for at most one second. It publishes this at the subject
// made of the stream's name and ".pause".
//
// Appends of more than about 1 MB, and all snapshots, are stored in chunks in a second stream,
// whose name ends with _LARGE. The chunks are stored first, and then the message that refers to
// them, under the usual condition. A snapshot of a fenced writer is therefore never listed. An
// object store of NATS works in a similar way, but it cannot find the objects of one id, or remove
// them without a trace. Chunks that a crash has left without a message are removed later: those of
// snapshots with the next snapshot, those of events with the next deletion.
//
// # Guarantees
//
//   - With SyncAlways, acknowledged data is on the disk of the server, or of a majority of the
//     replicas.
//   - Retries are recognised from the stored data. The journal does not rely on the duplicate
//     window of JetStream.
//   - Each record and each snapshot has a CRC32C, in addition to the checksum of the server.
//   - A deletion first stores its end, and then removes messages. The last message of an id stays
//     forever, because it has the sequence number.
//   - [Journal.Forget] stores one more message, the tombstone, and removes all others of the id.
//     The files of the servers may have their bytes until they are compacted.
//   - Reads across ids are in the order of the stream. A [journal.Offset] is text like
//     "js:bank:1042:1": the message, and how many of its records have been seen. These reads do not
//     notice a message that JetStream has lost.
//
// Slices are part of the subjects. For a long read, the server sends only the requested slices,
// through a consumer that exists only during the read. A few messages are requested one by one, and
// filtered by the reader. Tags are not part of the subjects: a reader by tag receives all messages
// of the slices over the network, and drops most of them.
//
// # How readers learn of appends
//
// [Journal.Appended] reports appends of the same journal at once. Journals notify each other with a
// message at the subject of the stream's name and ".wake", which no stream keeps: one message at
// once, and then at most ten per second. Readers in other processes of the same account learn of an
// append within about 100 ms. A notification is lost if a connection breaks, or if the account may
// not use the subject; readers therefore also poll, projections as set by projection.Polling.
//
// # Limits
//
//   - Payloads up to [MaxPayload], appends up to [MaxAppend], snapshots up to
//     [MaxSnapshot] and as many as [MaxSnapshots] of an id.
//   - No timers: the journal is no [journal.TimerStore], and an append with timers fails with
//     [errors.ErrUnsupported]. Keep actors that set timers in package sqlite or postgres.
//   - Servers 2.11 or newer; tested with 2.15.
//   - Streams must keep all messages: [Open] creates them with such settings, and checks existing
//     ones. You may limit the bytes of a stream; beyond the limit, appends fail with
//     [journal.ErrFull].
//   - A request waits up to 5 s for its answer, and less if the context says so or the connection
//     breaks. Elections after the loss of a server take seconds; appends meanwhile are
//     [journal.ErrUnavailable] or [journal.ErrUnknown], and can be sent again.
//   - If a journal was closed while NATS was unreachable, messages buffered by its connection may
//     still be stored. The condition of each message applies then, too.
//   - A client that may publish to the subjects of the streams can forge events: do not share the
//     account or these subjects with other programs.
//
// # Laws that are not checked
//
// This package does not offer two hooks of the suite journaltest, because they lose or change a
// single record. JetStream stores whole messages, and loses a message that was changed. If that was
// the last message of its id and the server has forgotten it, its number is used again. The laws
// AMissingRecordIsAnError and ALostRecordIsNotWrittenAgain cannot hold then. The loss of any other
// message is detected.
//
// # Testing
//
// Use [journal.NewMemory], which obeys the same laws. To test against JetStream itself, start a
// server in the test process with github.com/nats-io/nats-server/v2/server.
package jetstream
