package cli

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"text/tabwriter"
)

const about = `understudy asks a running node how its cluster is, and why something does not move.

`

const more = `
understudy COMMAND -h lists the flags. The node is at -url or UNDERSTUDY_URL, several URLs with commas
between them: the first that answers. The default is ` + defaultURL + `
The exit code is 0 if nothing is wrong, 1 if something is, and 2 for a wrong command line.
`

func printHelp(to io.Writer) {
	var b strings.Builder
	b.WriteString(about)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, v := range verbs {
		_, _ = fmt.Fprintf(w, "  %s\t%s\n", strings.TrimSpace(v.name+" "+v.args), v.help)
	}
	_, _ = fmt.Fprintf(w, "  version\tthe version of this command\n")
	_ = w.Flush() // to memory
	b.WriteString(more)
	_, _ = io.WriteString(to, b.String()) // there is nowhere to say that it fails
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
