package rehearse

import (
	"fmt"
	"maps"
	"slices"
)

// compareSettings compares the settings that the members of a cluster compare.
func compareSettings(f *findings, old, now *hello) {
	for _, part := range slices.Sorted(maps.Keys(old.Settings)) {
		was, is := old.Settings[part], now.Settings[part]
		if is == nil {
			f.note("settings", part, "", "Only the old build has settings that members of a cluster compare.", Example{})
			continue
		}
		all := maps.Clone(was)
		maps.Copy(all, is)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if was[name] != is[name] {
				f.problem("settings", part, name, fmt.Sprintf("It was %q and is %q. In a rolling restart, nodes of the new build take no part until the last old one has left.", was[name], is[name]), Example{})
			}
		}
	}
}
