package rehearse

import (
	"slices"
	"strings"
)

// compareErrors compares the names under which two builds have registered errors. A build of an
// older release does not tell them.
func compareErrors(f *findings, old, now *hello) {
	if old.Errors == nil || now.Errors == nil {
		return
	}
	for _, name := range missing(old.Errors, now.Errors) {
		f.problem("error", name, "", "The new build has not registered this error, so errors.Is fails there for one that an older node sends, and on older nodes for one that the new build sends.", Example{})
	}
	for _, name := range missing(now.Errors, old.Errors) {
		f.note("error", name, "", "This error is new. On older nodes errors.Is fails for it.", Example{})
	}
}

// missing returns the names of the user that only one list has. Those of Understudy itself are
// compatible as its releases are.
func missing(from, in []string) []string {
	return slices.DeleteFunc(slices.Clone(from), func(name string) bool {
		return slices.Contains(in, name) || strings.HasPrefix(name, ownTypes) || strings.HasPrefix(name, "context.")
	})
}
