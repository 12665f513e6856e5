package roll

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// An output is what the processes of a node print. It keeps the last lines, and the errors among
// the lines that were not asked for yet.
type output struct {
	mu     sync.Mutex // guards all below
	lines  []string   // the last ones
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
	o.lines, o.part = nil, nil
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
	o.lines = append(o.lines, shown(line))
	o.lines = slices.Clone(o.lines[max(0, len(o.lines)-keptLines):])
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
	return strings.Join(append(slices.Clone(o.lines), shown(string(o.part))), "\n")
}
