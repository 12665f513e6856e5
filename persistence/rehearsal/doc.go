// Package rehearsal lets the command understudy try a build of your program on a copy of its
// journal, before you deploy it:
//
//	func main() {
//		rehearsal.Serve(openJournal, rehearsal.Of("cart", newCart), rehearsal.Of("ledger", newLedger))
//		… // the program as it is without this line
//	}
//
//	understudy rehearse -old ./shop-1 -new ./shop-2 -journal backup.db
//
// docs/upgrades.md says what the rehearsal finds. `understudy entity cart/42 -program ./shop-1
// -journal backup.db` shows what an actor has stored, without a running node.
//
// The command copies the journal and starts both builds, each on a copy of its own. Event handlers,
// adapters, and functions of Setup run; command handlers do not. Nothing is claimed or appended.
// The factories must not need a cluster.
//
// This package is experimental: a minor release may change it.
package rehearsal
