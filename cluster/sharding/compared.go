package sharding

import "strconv"

// Compared returns the settings of a type that all nodes must have alike, by their names. It is for
// the method With of rehearsal.Part, so that the rehearsal of an upgrade finds a change that a
// rolling restart refuses. It panics if an option makes no sense; [Start] returns an error then.
func Compared(opts ...Option) map[string]string {
	set, err := settingsOf(opts)
	if err != nil {
		panic(err)
	}
	return map[string]string{"shards": strconv.Itoa(set.initialShards()), "role": set.role, "mode": string(set.mode())}
}
