// Package appversion compares versions of applications, which may be any texts.
package appversion

import (
	"strings"

	"golang.org/x/mod/semver"
)

// Compare returns a positive number if a is newer than b, a negative one if it is older, and 0 if
// they are equal or cannot be compared. Only semantic versions can be compared; the v at their
// beginning may be missing, and they may be as short as "1" or "1.4".
func Compare(a, b string) int {
	if a == b {
		return 0
	}
	a, b = canonical(a), canonical(b)
	if !semver.IsValid(a) || !semver.IsValid(b) {
		return 0
	}
	return semver.Compare(a, b)
}

// Newer reports whether a is newer than b. A version that can be compared is newer than one that
// cannot.
func Newer(a, b string) bool {
	return semver.IsValid(canonical(a)) && (!semver.IsValid(canonical(b)) || Compare(a, b) > 0)
}

func canonical(version string) string { return "v" + strings.TrimPrefix(version, "v") }
