// Package docs has the tests of what the documents say about the tree.
package docs
