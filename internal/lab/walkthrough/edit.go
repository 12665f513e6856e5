package walkthrough

import (
	"errors"
	"fmt"
	"strings"
)

// Each change of the diff has to fit in one place. A line of the diff begins with a space, - or +;
// a blank line separates changes in different places.
func edited(text, diff string) (string, error) {
	for change := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n\n") {
		var before, after strings.Builder
		for line := range strings.SplitSeq(change, "\n") {
			if line == "" {
				return "", errors.New("one blank line separates changes, and none is empty")
			}
			switch sign, rest := line[:1], line[1:]+"\n"; sign {
			case " ":
				before.WriteString(rest)
				after.WriteString(rest)
			case "-":
				before.WriteString(rest)
			case "+":
				after.WriteString(rest)
			default:
				return "", fmt.Errorf("a line of a diff begins with a space, - or +: %q", line)
			}
		}
		// A line feed in front lets whole lines match only.
		if n := strings.Count("\n"+text, "\n"+before.String()); n != 1 || before.Len() == 0 {
			return "", fmt.Errorf("these lines occur %d times in the file, instead of once:\n%s", n, before.String())
		}
		text = strings.Replace("\n"+text, "\n"+before.String(), "\n"+after.String(), 1)[1:]
	}
	return text, nil
}
