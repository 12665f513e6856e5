package rehearse

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/understudy-go/understudy/cmd/understudy/internal/roll"
)

// roll updates a cluster and rolls it back. Its nodes write to a copy of their own, unless the
// journal is at a URL.
func (r *rehearsal) roll(ctx context.Context, f *findings) (res roll.Result, err error) {
	if r.Roll == nil {
		return res, nil
	}
	dir := filepath.Join(r.dir, "roll")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return res, err
	}
	cfg := *r.Roll
	cfg.Old, cfg.New, cfg.Progress = r.Old, r.New, r.Progress
	cfg.Accepted = func(p roll.Problem) bool { return slices.Contains(r.Accept, p.Key()) }
	if cfg.Journal, err = copyTo(ctx, r.Journal, dir); err != nil {
		return res, err
	}
	if res, err = roll.Run(ctx, cfg); err != nil {
		return res, err
	}
	for _, p := range res.Problems {
		f.problem("roll", p.Kind, p.About, rollText, Example{Text: p.Step + ": " + p.Text})
	}
	for _, p := range res.Notes {
		f.note("roll", p.Kind, p.About, "This was seen while the cluster was rolled, and stops nothing.", Example{Text: p.Step + ": " + p.Text})
	}
	return res, nil
}

const rollText = "This went wrong while the cluster was updated or rolled back."
