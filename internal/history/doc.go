// Package history keeps the last decisions of a node, for operators who come afterwards. It is
// pure: the caller gives the time.
package history
