// Package docs tests the pages: that links lead somewhere, that named tests exist, and that tables
// are complete.
package docs
