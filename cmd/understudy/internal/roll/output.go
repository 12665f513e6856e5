package roll

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// An output is what the processes of a node print. It keeps the first and the last lines, and the
// errors among the lines that were not asked for yet.
type output struct {
	mu     sync.Mutex // guards all below
	heads  []string   // the first ones
	lines  []string   // the last ones of the others
	more   bool       // there were others between them
	part   []byte     // the beginning of the next one
	failed []failure
}

const (
	keptLines = 3
	maxLine   = 64 << 10 // bytes
	maxErrors = 20
	maxShown  = 400 // bytes of a line
)

// begin is called before a new process begins.
func (o *output) begin() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heads, o.lines, o.more, o.part = nil, nil, false, nil
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for rest := b; ; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			o.part = append(o.part, rest...)
			o.part = o.part[:min(len(o.part), maxLine)]
			return len(b), nil
		}
		o.read(string(append(o.part, rest[:i]...)))
		o.part, rest = o.part[:0], rest[i+1:]
	}
}

func (o *output) read(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	switch {
	case len(o.heads) < keptLines:
		o.heads = append(o.heads, shown(line))
	case len(o.lines) < keptLines:
		o.lines = append(o.lines, shown(line))
	default:
		o.lines, o.more = append(slices.Clone(o.lines[1:]), shown(line)), true
	}
	f, ok := failureIn(line)
	if ok && len(o.failed) < maxErrors && !slices.ContainsFunc(o.failed, func(e failure) bool { return e.message == f.message }) {
		o.failed = append(o.failed, f)
	}
}

func shown(text string) string {
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	return strings.ToValidUTF8(text, "")
}

func (o *output) errors() []failure {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.failed
	o.failed = nil
	return all
}

// last returns the last lines, with the beginning of another one.
func (o *output) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := slices.Concat(o.heads, o.lines)
	return strings.Join(append(all[max(0, len(all)-keptLines):], shown(string(o.part))), "\n")
}

// ends returns the first and the last lines. The first ones say why a process has refused its
// arguments.
func (o *output) ends() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := slices.Clone(o.heads)
	if o.more {
		all = append(all, "…")
	}
	return strings.TrimSpace(strings.Join(append(append(all, o.lines...), shown(string(o.part))), "\n"))
}
