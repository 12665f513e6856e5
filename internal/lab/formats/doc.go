// Package formats tests the formats of types with every store. Entities and durable states, whose
// events, snapshots and states are JSON or protobuf, live in memory, in SQLite, in PostgreSQL and
// in JetStream. It is a module of its own, because no other needs all of these.
package formats
