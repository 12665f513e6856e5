package journaltest_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/effort"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
)

// brokenEnv makes TestBrokenJournal check one of the broken journals, and fail.
const brokenEnv = "UNDERSTUDY_BROKEN_JOURNAL"

// broken has journals that each break a law, with the name of a law that must detect it.
var broken = map[string]struct {
	law     string
	journal func() journal.Journal
}{
	"everybody may write":          {"ANewClaimFencesTheOlderOne", func() journal.Journal { return &unfenced{base: base{journal.NewMemory()}, epochs: map[string]uint64{}} }},
	"all is fine":                  {"AWrongPreviousNumberIsAConflict", func() journal.Journal { return yesMan{base{journal.NewMemory()}} }},
	"a retry is a conflict":        {"ARetryOfAnAppliedRequestSucceedsAndStoresNothing", func() journal.Journal { return &forgetful{base{journal.NewMemory()}, map[uint64]bool{}} }},
	"neighbours fail together":     {"ARefusedRequestDoesNotFailItsNeighbours", func() journal.Journal { return allOrNothing{base{journal.NewMemory()}} }},
	"the tail is lost":             {"EveryFieldComesBack", func() journal.Journal { return tailless{base{journal.NewMemory()}} }},
	"the least epoch is not kept":  {"AClaimTakesTheLeastEpochOrTheNext", func() journal.Journal { return boundless{journal.NewMemory()} }},
	"a claim goes back":            {"AClaimOfAnEarlierGenerationIsRefused", func() journal.Journal { return endless{journal.NewMemory()} }},
	"a bound is outdated":          {"AClaimNeverGoesBackToAnEarlierGeneration", func() journal.Journal { return &outdated{Memory: journal.NewMemory()} }},
	"a context is never looked at": {"ACallThatWasCancelledBeforeStoresNothing", func() journal.Journal { return tireless{base{journal.NewMemory()}} }},
	"an event turns up late":       {"ATailingReaderMissesNothing", func() journal.Journal { return &latecomer{Memory: journal.NewMemory()} }},
	"tags are prefixes":            {"ATagFindsTheEventsThatHaveIt", func() journal.Journal { return prefixed{journal.NewMemory()} }},
	"a replay is held whole":       {"ALongHistoryIsReplayedWholeInOrderAndInConstantMemory", func() journal.Journal { return hoarder{base{journal.NewMemory()}} }},
	"a tombstone is passed over":   {"AForgottenIDIsNotWritten", func() journal.Journal { return reviving{journal.NewMemory()} }},
	"nobody hears of a tombstone":  {"ReadersHearWhatIsForgotten", func() journal.Journal { return silent{journal.NewMemory()} }},
	"offsets are not looked at":    {"AnOffsetOfAnotherJournalIsInvalid", func() journal.Journal { return trusting{journal.NewMemory()} }},
}

func TestTheLawsNoticeABrokenJournal(t *testing.T) {
	effort.Verify(t)
	for name, b := range broken {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestBrokenJournal$/^"+b.law+"$")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "%s", out)
			require.Contains(t, string(out), "--- FAIL: TestBrokenJournal/"+b.law)
		})
	}
}

func TestBrokenJournal(t *testing.T) {
	b, ok := broken[os.Getenv(brokenEnv)]
	if !ok {
		t.Skip("this runs in children of TestTheLawsNoticeABrokenJournal")
	}
	journaltest.Run(t, func(*testing.T) journal.Journal { return b.journal() }, journaltest.Features{})
}

// skippedEnv makes TestSkipping run, and has the value of its Features.Skipped.
const skippedEnv = "UNDERSTUDY_SKIPPED_LAWS"

func TestWhatIsSkippedMustBePinned(t *testing.T) {
	const (
		skipped = "BoundsHoldAfterReopening: Features.Reopen is not set"
		more    = "add\n        " + skipped
		fewer   = "take out of Features.Skipped\n        "
	)
	for _, c := range []struct {
		pinned string
		says   []string
	}{
		{skipped, nil},
		{"\n\t" + skipped + "\n\n", nil},
		{skipped + "\nTwoHandlesAreOneJournal: -run leaves it out", nil},
		{"", []string{more}},
		{"BoundsHoldAfterReopening: another reason", []string{more, fewer + "BoundsHoldAfterReopening: another reason"}},
		{skipped + "\nANewIDHasNoRecords: it had some", []string{fewer + "ANewIDHasNoRecords: it had some"}},
		{skipped + "\nThereIsNoSuchLaw", []string{fewer + "ThereIsNoSuchLaw"}},
	} {
		cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestSkipping$/^(BoundsHoldAfterReopening|ANewIDHasNoRecords)$")
		cmd.Env = append(os.Environ(), skippedEnv+"="+c.pinned)
		out, err := cmd.CombinedOutput()
		require.Equal(t, len(c.says) > 0, err != nil, "%q: %s", c.pinned, out)
		for _, text := range append(c.says, "2 laws, 1 of them skipped\n        "+skipped) {
			require.Contains(t, string(out), text)
		}
	}
}

func TestSkipping(t *testing.T) {
	skipped, ok := os.LookupEnv(skippedEnv)
	if !ok {
		t.Skip("this runs in children of TestWhatIsSkippedMustBePinned")
	}
	journaltest.Run(t, func(*testing.T) journal.Journal { return journal.NewMemory() }, journaltest.Features{Skipped: skipped})
}

// base is a journal that works.
type base struct{ journal.Journal }

// unfenced lets every writer write under the newest epoch.
type unfenced struct {
	base
	epochs map[string]uint64
}

func (j *unfenced) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	claim, err := j.base.Claim(ctx, id, writer, b)
	j.epochs[id] = claim.Epoch
	return claim, err
}

func (j *unfenced) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	for i := range reqs {
		reqs[i].Epoch = j.epochs[reqs[i].ID]
		for k := range reqs[i].Records {
			reqs[i].Records[k].Epoch = reqs[i].Epoch
		}
	}
	return j.base.Append(ctx, reqs)
}

// boundless ignores the bounds of a claim.
type boundless struct{ *journal.Memory }

func (j boundless) Claim(ctx context.Context, id string, writer journal.WriterID, _ journal.Bounds) (journal.Claim, error) {
	return j.Memory.Claim(ctx, id, writer, journal.Bounds{})
}

// endless ignores the upper bound of a claim.
type endless struct{ *journal.Memory }

func (j endless) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	return j.Memory.Claim(ctx, id, writer, journal.Bounds{Least: b.Least})
}

// outdated compares the upper bound of a claim with the epoch before the last one.
type outdated struct {
	*journal.Memory
	mu           sync.Mutex // guards last and before
	last, before uint64
}

func (j *outdated) Claim(ctx context.Context, id string, writer journal.WriterID, b journal.Bounds) (journal.Claim, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := journal.NextEpoch(j.before, b); err != nil {
		return journal.Claim{}, err
	}
	claim, err := j.Memory.Claim(ctx, id, writer, journal.Bounds{Least: b.Least})
	j.last, j.before = claim.Epoch, j.last
	return claim, err
}

type yesMan struct{ base }

func (j yesMan) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := j.base.Append(ctx, reqs)
	for i := range errs {
		if errors.Is(errs[i], journal.ErrConflict) {
			errs[i] = nil
		}
	}
	return errs
}

// forgetful does not recognise a repeated request.
type forgetful struct {
	base
	seen map[uint64]bool
}

func (j *forgetful) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := j.base.Append(ctx, reqs)
	for i := range errs {
		if j.seen[reqs[i].Prev] && errs[i] == nil {
			errs[i] = journal.ErrConflict
		}
		j.seen[reqs[i].Prev] = true
	}
	return errs
}

type allOrNothing struct{ base }

func (j allOrNothing) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	errs := j.base.Append(ctx, reqs)
	if err := errors.Join(errs...); err != nil {
		for i := range errs {
			errs[i] = err
		}
	}
	return errs
}

// tailless never yields the last record.
type tailless struct{ base }

func (j tailless) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		var held *journal.Record
		for r, err := range j.base.Read(ctx, id, from, to) {
			if held != nil && !yield(*held, err) {
				return
			}
			held = &r
		}
	}
}

// hoarder reads everything before it yields the first record.
type hoarder struct{ base }

func (j hoarder) Read(ctx context.Context, id string, from, to uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		var held []journal.Record
		for r, err := range j.base.Read(ctx, id, from, to) {
			if held = append(held, r); err != nil {
				yield(r, err)
				return
			}
		}
		for _, r := range held {
			if !yield(r, nil) {
				return
			}
		}
	}
}

type tireless struct{ base }

func (j tireless) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	return j.base.Append(context.WithoutCancel(ctx), reqs)
}

// latecomer shows every fifth event only after the event that follows it.
type latecomer struct {
	*journal.Memory
	shown int
}

func (j *latecomer) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range j.Memory.Events(ctx, q, after) {
			if j.shown++; j.shown%5 == 0 {
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// prefixed treats a tag as a prefix.
type prefixed struct{ *journal.Memory }

func (j prefixed) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range j.Memory.Events(ctx, journal.Query{Slices: q.Slices}, after) {
			if q.Tag == "" || slices.ContainsFunc(e.Record.Tags, func(tag string) bool { return strings.HasPrefix(tag, q.Tag) }) {
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// reviving forgets an id, and lets anybody claim it.
type reviving struct{ *journal.Memory }

func (j reviving) Forget(ctx context.Context, id string) error {
	if err := j.Memory.Forget(ctx, id); err != nil {
		return err
	}
	return j.Revive(ctx, id)
}

// silent hides tombstones from readers.
type silent struct{ *journal.Memory }

func (j silent) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range j.Memory.Events(ctx, q, after) {
			if !e.Forgotten() && !yield(e, err) {
				return
			}
		}
	}
}

// trusting treats an unknown offset as the beginning.
type trusting struct{ *journal.Memory }

func (j trusting) Events(ctx context.Context, q journal.Query, after journal.Offset) iter.Seq2[journal.Entry, error] {
	if !strings.HasPrefix(string(after), "memory:") {
		after = ""
	}
	return j.Memory.Events(ctx, q, after)
}
