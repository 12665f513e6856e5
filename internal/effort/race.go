//go:build race

package effort

// Raced says whether the race detector is on.
const Raced = true
