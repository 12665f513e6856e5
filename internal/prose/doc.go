// Package prose finds the patterns that make our comments and pages hard to read: pronouns
// without a noun, clauses in place of names, sentences that are too long, lines that are too wide.
//
// A test of the package counts them over the whole repository and fails where there are more
// than its limits allow. `make prose` lists every finding.
package prose
