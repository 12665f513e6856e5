// Package jetstream keeps events and snapshots in NATS JetStream, for programs that use NATS
// already and want a replicated journal.
//
//	nc, err := nats.Connect("nats://a,nats://b,nats://c")
//	…
//	journal, err := jetstream.Open(ctx, nc, jetstream.Config{Stream: "bank", Durability: jetstream.SyncAlways})
//
// # Choose the durability
//
// NATS servers acknowledge, by default, what is not on the disk yet: they sync every two
// minutes. Only sync_interval: always in the jetstream block of the configuration of every
// server makes an acknowledgement mean what [journal.Journal] says it means. A client
// cannot see that setting, neither of a stream nor of a server. So [Config] asks for it:
// say [SyncAlways] when it is set, or give up the guarantee by name with [DeferredSync].
// [Config.System], a connection to the system account, lets [Open] look for itself. What
// a stream does tell, persist mode async, is refused without it.
//
// # What is known against it
//
// PostgreSQL is the better place for data that must not be lost. Against JetStream there
// are, as of 2026, open reports of acknowledged writes lost by the deferred sync
// (nats-server #7564), of loss when members change during partitions even with sync
// always (#7545), and of a split brain after the power of one node failed (#7567). Three
// replicas that do not sync are safe from the crash of a process, not from a common power
// failure.
//
// A server that finds one of its files damaged neither stops nor tells: it drops the
// message, or, when it cannot tell where the next begins, all that follow in the file. Of
// 200 flipped bits, zeroed sectors and torn files each, none made a journal read anything
// that had not been appended. But some made it read less:
//
//   - A message that others of its id point to is missed: [journal.ErrCorrupt], when it
//     is read. So is the last one of an id, by reads and claims, if the server cannot find
//     it and has others. Flipped bits in subjects, heads and records did no more than that.
//   - A stream without its end is refused by [Open] with [journal.ErrCorrupt], unless
//     [Config.AcceptLoss] is set, if the server still knows the last number: all of the torn
//     files. A projection that has read further says so, too.
//   - After a zeroed sector, the server believes, until it is stopped in good order and
//     started again, that its stream was never longer: nearly all of those in the middle
//     of a file. Nobody can tell then from what is left that an id had more events; only a
//     [Journal] that has seen them says so, with [journal.ErrUnavailable]. Likewise
//     after a bit of the length of a message has flipped.
//   - A server of version 2.15 that reads a message whose number has become too great takes
//     memory until there is none.
//
// Three replicas protect from that as long as the damaged one does not lead: what it does
// not have, the leader is asked for.
//
// One server that syncs always writes one message per sync, however many writers there
// are; three share syncs between messages, and are faster with many writers.
//
// # How it writes
//
// A stream has one subject for each persistence id. Each claim, append, deletion and
// snapshot is one message there, under the condition that the last message of the subject
// is the one that the writer knows: that makes each of them atomic, and fences. The epoch
// is in the message of the claim: it is one more than the last or the floor, whichever is
// greater, so that generations of singletons and epochs are the same numbers; the sequence
// number of the message in the stream could not be chosen.
//
// Each message begins with a head: epoch, last sequence number, what is deleted, and where
// the records before it are. These are pointers to the last messages with records, 32 at
// most, and one to the message that has the 32 before. So a writer needs the last message
// only, and a recovery asks for the messages of its id alone, by their numbers, however
// large the stream is. An id that has more than about a sixteenth of the stream is read
// faster by a search for its subject; what that does not find in order is read by the
// pointers. The head is in the body and not in headers, where its checksum
// covers it together with the persistence id.
//
// A writer that recovers reads what the message of its own claim points to. Any replica may
// answer; what it does not have yet, the leader of the stream is asked for. The leader
// answers for the last message of a subject, always.
//
// A writer that appends without a pause could keep others from claiming its id for seconds, because
// a claim needs two requests and an append one. A refused claim therefore asks the journals that
// append to the id to pause, for a second at most, with a message at the subject of the stream's
// name and ".room".
//
// What does not fit into a message, appends of more than about 1 MB and all snapshots, is in chunks
// in a second stream, whose name ends with _LARGE. They are stored first; then the message that
// refers to them, under the usual condition. So a snapshot of a fenced writer is never listed. An
// object store of NATS works like this, but it cannot find the objects of one id, or remove them
// without a trace. Chunks that a crash has left without a message go when later ones do: those of
// snapshots with the next snapshot, those of events with the next deletion.
//
// # Guarantees
//
//   - With SyncAlways: what was acknowledged is on the disk of the server, or of a
//     majority of the replicas.
//   - Retries are recognised by what is stored. The window for duplicates of JetStream is
//     not relied upon.
//   - Each record and each snapshot has a CRC32C, besides the checksum of the server.
//   - A deletion stores how far it goes, then removes. The last message of an id stays
//     for ever, as it has the sequence number.
//   - Reads across ids come in the order of the stream. An [journal.Offset] is text like
//     "js:bank:1042:1": the message, and how many of its records have been seen. A message
//     that JetStream has lost is missing there without a sign.
//
// Slices are part of the subjects: when there is much to read, the server sends only those
// asked for, through a consumer that lasts as long as the read; a few messages are asked
// for one by one, and filtered by the reader. Tags are not part of the subjects: a reader
// by tag receives all messages of the slices over the network, and drops most of them.
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
//   - Servers 2.11 or newer; tested with 2.15.
//   - Streams must keep all and drop nothing: [Open] makes them so, and checks. A limit of
//     bytes may be set; beyond it, appends answer [journal.ErrFull].
//   - A request waits up to 5 s for its answer, and less if the context says so. Elections
//     after the loss of a server take seconds; appends meanwhile are
//     [journal.ErrUnavailable] or [journal.ErrUnknown], and can be sent again.
//   - A journal that was closed while NATS was away may still store what its connection
//     has kept to send: the condition of each message holds then as well.
//   - A client that may publish to the subjects of the streams can forge events: do not share the
//     account or these subjects with other programs.
//
// # Laws that are not checked
//
// Two hooks of the suite journaltest are not offered, as they lose or change one record of
// a message: JetStream has whole messages, and loses one that is changed. When it was the
// last of its id and the server has forgotten it, its number is written again; the laws
// AMissingRecordIsAnError and ALostRecordIsNotWrittenAgain cannot hold then. Any other
// message is missed.
//
// # Testing
//
// Use package memory, which obeys the same laws. To test against JetStream itself, start a
// server in the test: github.com/nats-io/nats-server/v2/server runs in the process.
package jetstream
