package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

// CanBeDowned returns an error if the node does not let anybody take members down, or does not know
// the member.
func CanBeDowned(s status.Snapshot, member string) error {
	if !s.Actions {
		return status.ErrNoActions
	}
	var names []string
	for _, m := range s.Members {
		if m.Name == member {
			return nil
		}
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return fmt.Errorf("%s knows no member %q; there are %s", s.Self.Name, member, strings.Join(names, ", "))
}
