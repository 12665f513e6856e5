package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/understudy-go/understudy/cluster"

	"github.com/understudy-go/understudy/internal/lab/page"
)

// A report has all figures.
type report struct {
	settings

	began time.Time
	costs costs
	kills []kill
}

// pageBegin is the line of a page above its figures.
const pageBegin = "<!-- figures: make bench-sharding -->\n"

// write replaces the figures of the page, and writes the plots beside it; or prints the figures.
func (r report) write() error {
	if r.page == "" {
		fmt.Print(r.text())
		return nil
	}
	for _, k := range r.kills {
		if err := os.WriteFile(filepath.Join(filepath.Dir(r.page), k.plotName()), []byte(k.plot().SVG()), 0o644); err != nil { //nolint:gosec // a picture for all to see
			return err
		}
	}
	return page.Replace(r.page, pageBegin, r.text())
}

// text returns the figures in Markdown.
func (r report) text() string {
	var b strings.Builder
	c := r.costs
	fmt.Fprintf(&b, "`go run ./internal/lab/entities -entities %d -stored %d -rate %d` took %v on %s. Machine: %s, %s/%s, %d processors. Commit: %s.\n\n",
		r.entities, r.stored, r.rate, time.Since(r.began).Round(time.Second), r.began.Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), commit())
	b.WriteString("### What an entity costs beside an actor\n\n| | plain actor | entity | | goal |\n|---|--:|--:|--:|---|\n")
	fmt.Fprintf(&b, "| tell, on the same node | %d ns | %d ns | %.2f times | 2 times: %s |\n", c.local.plain, c.local.entity, c.local.times(), verdict(c.local.times() <= 2))
	fmt.Fprintf(&b, "| tell, to another node | %d ns | %d ns | %.2f times | 1.15 times: %s |\n", c.remote.plain, c.remote.entity, c.remote.times(), verdict(c.remote.times() <= 1.15))
	fmt.Fprintf(&b, "| idle, without state | %d bytes | %d bytes | | 600 bytes: %s |\n", c.plain, c.idle, verdict(c.idle <= 600))
	for _, k := range r.kills {
		k.describe(&b, r.rate)
	}
	return strings.TrimRight(b.String(), "\n")
}

func verdict(reached bool) string {
	if reached {
		return "reached"
	}
	return "not reached"
}

// commit returns the commit of the checkout; "unknown" if git does not say.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

func (k kill) kind() string {
	if k.stored {
		return "event-sourced entities"
	}
	return "entities"
}

func (k kill) plotName() string {
	if k.stored {
		return "performance-sharding-stored.svg"
	}
	return "performance-sharding.svg"
}

func (k kill) describe(b *strings.Builder, rate int) {
	fmt.Fprintf(b, "\n### %d %s on three processes, one of which is killed\n\n", k.entities, k.kind())
	fmt.Fprintf(b, "All were awake %.1f s after the first ask. Before the kill the nodes used", k.woken.Seconds())
	for i, n := range k.nodes {
		fmt.Fprintf(b, "%s %d MB for %d entities", []string{"", ",", " and"}[i], n.Resident>>20, n.Awake)
	}
	fmt.Fprintf(b, " (heap in use: %d MB together, %d bytes for each entity).\n\n", heaps(k.nodes)>>20, heaps(k.nodes)/int64(max(1, k.entities)))
	name, limit := "FailoverUnfenced", cluster.Config{}.Expected().FailoverUnfenced
	if k.stored {
		name, limit = "FailoverFenced", cluster.Config{}.Expected().FailoverFenced
	}
	fmt.Fprintf(b, "The killed node had the coordinator and %d entities. The first of them answered elsewhere %.2f s after SIGKILL; `Config.Expected().%s` is %.2f s. The last ask that had waited for longer than %v was over after %.2f s. %d asks were sent in a second, each to another entity.\n\n",
		k.lost, k.first.Seconds(), name, limit.Seconds(), waits, k.whole.Seconds(), rate)
	fmt.Fprintf(b, "![latency by the second](%s)\n\n", k.plotName())
	b.WriteString("| second | asks | failed | p50 | p99 | p99.9 | maximum |\n|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, s := range k.seconds {
		if s.from < -1 || s.from > 5 {
			continue // as those beside it; the plot has them
		}
		fmt.Fprintf(b, "| %d | %d | %d | %s | %s | %s | %s |\n", s.from, s.sent, s.failed, ms(s.p50), ms(s.p99), ms(s.p999), ms(s.most))
	}
}

func heaps(nodes []memory) (sum int64) {
	for _, n := range nodes {
		sum += n.Heap
	}
	return sum
}

func ms(d time.Duration) string {
	if d >= 100*time.Millisecond {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
