// Package generations keeps the generations of singletons in a journal, or in memory for tests.
//
// This package is experimental: a minor release may change it.
//
//	source := generations.NewJournal(journal)
//	ref := actor.Spawn(node, behaviors.Singleton(newWriter, singleton.WithGenerations(source)), "writer")
//
// Use it for a singleton that is not event-sourced and writes to something that rejects lower
// generations: its generations keep growing even after all nodes have been stopped, as long as the
// journal is kept. An event-sourced singleton needs no source, because it claims its own
// persistence id. Package placement uses a source for the singletons that its coordinator manages.
//
// All nodes must share the journal, or the file or server it is in.
package generations
