package generations_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/generationtest"
	"github.com/understudy-go/understudy/persistence/generations"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton/generation"
)

// All laws hold when answers are lost: the source looks up the outcome.
func TestJournalThatLosesAnswers(t *testing.T) {
	for name, compactAfter := range map[string]uint64{"long": 1000, "tidied often": 400} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Log("seed", seed)
			generationtest.Run(t, func(*testing.T) generationtest.Backend {
				j := forgetful(journal.NewMemory(), seed)
				return onJournal(func(*testing.T) journal.Journal { return j }, func(j journal.Journal) *generations.Journal {
					return generations.NewTidyJournal(j, compactAfter)
				})
			})
		})
	}
}

func TestAJournalThatDoesNotAnswerHoldsUpNobodyBeyondTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang, inner := make(chan struct{}), journal.NewMemory()
		s := generations.NewJournal(&faulty{
			Journal: inner,
			append: func(ctx context.Context, reqs []journal.AppendRequest, _ func() []error) []error {
				<-hang // whatever its context says
				return inner.Append(context.WithoutCancel(ctx), reqs)
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := s.ClaimTerm(ctx, "x", "a", 0)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, _, err = s.Current(ctx, "x")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))

		claimed := make(chan error)
		go func() {
			g, err := s.ClaimTerm(t.Context(), "x", "b", 0)
			if g.Term != 2 {
				err = errors.Join(fmt.Errorf("term %d: the first claim has happened, late", g.Term), err)
			}
			claimed <- err
		}()
		synctest.Wait()
		close(hang)
		require.NoError(t, <-claimed)
	})
}

// Requests behind a request whose caller has given up are answered.
func TestWhoGivesUpHarmsNoNeighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		s := generations.NewJournal(&faulty{
			Journal: journal.NewMemory(),
			append: func(ctx context.Context, _ []journal.AppendRequest, do func() []error) []error {
				select {
				case <-block:
					return do()
				case <-ctx.Done():
					return []error{fmt.Errorf("%w: %w", journal.ErrUnavailable, ctx.Err())}
				}
			},
		})
		impatient, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i := range 20 {
			ctx := t.Context()
			if i%2 == 0 {
				ctx = impatient
			}
			all.Go(func() {
				_, err := s.ClaimTerm(ctx, "x", "a", 0)
				if i%2 == 0 && !errors.Is(err, context.Canceled) || i%2 == 1 && err != nil {
					t.Errorf("claim %d: %v", i, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(block)
		all.Wait()
	})
}

func TestRequestsThatAreMadeAtOnceShareAppends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		appends := 0
		s := generations.NewJournal(&faulty{
			Journal: journal.NewMemory(),
			append: func(_ context.Context, _ []journal.AppendRequest, do func() []error) []error {
				appends++
				time.Sleep(time.Millisecond)
				return do()
			},
		})
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				_, err := s.ClaimTerm(t.Context(), "x", "a", 0)
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		o, _, err := s.Current(t.Context(), "x")
		require.NoError(t, err)
		require.EqualValues(t, 1000, o.Generation.Term)
		require.LessOrEqual(t, appends, 10)
	})
}

func TestWhatTheJournalAnswersComesBackAndNothingHasHappened(t *testing.T) {
	for _, cause := range []error{journal.ErrUnavailable, journal.ErrFull, journal.ErrTooLarge, journal.ErrConflict, journal.ErrClosed} {
		t.Run(cause.Error(), func(t *testing.T) {
			failing := false
			s := generations.NewJournal(&faulty{
				Journal: journal.NewMemory(),
				append: func(_ context.Context, _ []journal.AppendRequest, do func() []error) []error {
					if failing {
						return []error{fmt.Errorf("append: %w", cause)}
					}
					return do()
				},
			})
			_, err := s.ClaimTerm(t.Context(), "x", "a", 0)
			require.NoError(t, err)
			failing = true
			_, err = s.ClaimTerm(t.Context(), "x", "b", 0)
			require.ErrorIs(t, err, cause)
			require.ErrorContains(t, err, `claim a term of "x"`)
			require.ErrorIs(t, s.PutSpec(t.Context(), "x", []byte("spec")), cause)
			failing = false
			o, _, err := s.Current(t.Context(), "x")
			require.NoError(t, err)
			require.Equal(t, generation.Ownership{Owner: "a", Generation: generation.Generation{Term: 1}}, o)
			g, err := s.ClaimTerm(t.Context(), "x", "b", 0)
			require.NoError(t, err)
			require.EqualValues(t, 2, g.Term)
		})
	}
}

func TestAClaimOfTheLogThatFailsIsMadeAgain(t *testing.T) {
	failures := 2
	s := generations.NewJournal(&faulty{
		Journal: journal.NewMemory(),
		claim: func(_ context.Context, do func() (journal.Claim, error)) (journal.Claim, error) {
			if failures--; failures >= 0 {
				_, err := do()
				return journal.Claim{}, errors.Join(journal.ErrUnknown, err)
			}
			return do()
		},
	})
	for range 2 {
		_, err := s.ClaimTerm(t.Context(), "x", "a", 0)
		require.ErrorIs(t, err, journal.ErrUnknown)
	}
	g, err := s.ClaimTerm(t.Context(), "x", "a", 0)
	require.NoError(t, err)
	require.EqualValues(t, 1, g.Term)
}

// The answer of an append is lost, and the store then fails. The outcome is unknown until the next
// claim.
func TestWhatNobodyKnowsIsFoundOutByTheNext(t *testing.T) {
	for _, happens := range []bool{true, false} {
		lost := false
		f := &faulty{Journal: journal.NewMemory()}
		s := generations.NewJournal(f)
		_, err := s.ClaimTerm(t.Context(), "x", "a", 0)
		require.NoError(t, err)
		f.append = func(_ context.Context, _ []journal.AppendRequest, do func() []error) []error {
			if lost {
				return do()
			}
			lost = true
			if happens {
				do()
			}
			return []error{journal.ErrUnknown}
		}
		f.claim = func(context.Context, func() (journal.Claim, error)) (journal.Claim, error) {
			return journal.Claim{}, journal.ErrUnavailable
		}
		_, err = s.ClaimTerm(t.Context(), "x", "b", 0)
		require.ErrorIs(t, err, journal.ErrUnknown)
		f.claim = nil
		g, err := s.ClaimTerm(t.Context(), "x", "c", 0)
		require.NoError(t, err)
		require.Equal(t, map[bool]uint64{true: 3, false: 2}[happens], g.Term)
	}
}

func TestASpecThatIsTooLargeFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := generations.NewJournal(&faulty{
			Journal: journal.NewMemory(),
			append: func(_ context.Context, reqs []journal.AppendRequest, do func() []error) []error {
				size := 0
				for _, r := range reqs[0].Records {
					size += len(r.Payload)
				}
				if time.Sleep(time.Millisecond); size > 1000 {
					return []error{journal.ErrTooLarge}
				}
				return do()
			},
		})
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				spec := strings.Repeat("s", 100)
				if i == 20 {
					spec = strings.Repeat("s", 1000)
				}
				err := s.PutSpec(t.Context(), fmt.Sprint(i), []byte(spec))
				if errors.Is(err, journal.ErrTooLarge) != (i == 20) {
					t.Errorf("spec %d: %v", i, err)
				}
			})
		}
		all.Wait()
		records, err := s.List(t.Context())
		require.NoError(t, err)
		require.Len(t, records, 49)
	})
}

func TestTheLogStaysShort(t *testing.T) {
	const compactAfter = 500
	for labels, size := range map[int]int{1: 0, 30: 10, 700: 10, 40: 20_000} {
		t.Run(fmt.Sprintf("%d labels, %d bytes", labels, size), func(t *testing.T) {
			j := journal.NewMemory()
			s := generations.NewTidyJournal(j, compactAfter)
			spec := strings.Repeat("s", size)
			for i := range labels {
				require.NoError(t, s.PutSpec(t.Context(), fmt.Sprint("kept ", i), []byte(spec)))
			}
			longest := 0
			for i := range 4000 {
				_, err := s.ClaimTerm(t.Context(), fmt.Sprint("kept ", i%max(1, labels/2)), "a", 0)
				require.NoError(t, err)
				if i%100 == 0 {
					n, err := count(j.Read(t.Context(), generations.LogID, 1, math.MaxUint64))
					require.NoError(t, err)
					longest = max(longest, n)
				}
			}
			t.Logf("%d records at most", longest)
			require.LessOrEqual(t, longest, compactAfter+4*labels+1)
			later, err := generations.NewJournal(j).List(t.Context())
			require.NoError(t, err)
			now, err := s.List(t.Context())
			require.NoError(t, err)
			require.Equal(t, now, later)
			require.Len(t, later, labels)
		})
	}
}

// Tidying may stop anywhere without losing an entry.
func TestTidyingMayBeBrokenOffAnywhere(t *testing.T) {
	for broken := range 12 {
		for _, happens := range []bool{true, false} {
			f := &faulty{Journal: journal.NewMemory()}
			s := generations.NewTidyJournal(f, 20)
			for i := range 8 {
				require.NoError(t, s.PutSpec(t.Context(), fmt.Sprint("x", i), []byte(strings.Repeat("s", 50_000))))
			}
			left := broken // changes until the power fails
			power := func(do func() error) error {
				if left--; left > 0 {
					return do()
				}
				if left == 0 && happens {
					_ = do()
				}
				return journal.ErrUnavailable
			}
			f.append = func(_ context.Context, _ []journal.AppendRequest, do func() []error) []error {
				return []error{power(func() error { return do()[0] })}
			}
			f.delete = power
			granted := uint64(0)
			for range 40 {
				if g, err := s.ClaimTerm(t.Context(), "x0", "a", 0); err == nil {
					granted = g.Term
				}
				if left <= 0 {
					break
				}
			}
			later := generations.NewJournal(f.Journal)
			records, err := later.List(t.Context())
			require.NoError(t, err)
			require.Len(t, records, 8)
			g, err := later.ClaimTerm(t.Context(), "x0", "b", 0)
			require.NoError(t, err)
			require.Greater(t, g.Term, granted)
			require.LessOrEqual(t, g.Term, granted+2)
		}
	}
}

func TestSomethingElseUnderTheIDIsAnError(t *testing.T) {
	j := journal.NewMemory()
	claim, err := j.Claim(t.Context(), generations.LogID, journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	foreign := journal.Record{Seq: 1, Epoch: claim.Epoch, Type: "string", Payload: []byte{0x61, 'x'}}
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{{ID: generations.LogID, Epoch: claim.Epoch, Records: []journal.Record{foreign}}})[0])
	_, err = generations.NewJournal(j).List(t.Context())
	require.ErrorIs(t, err, journal.ErrCorrupt)
	require.ErrorContains(t, err, "nothing else may use this id")
}

func TestASourceNeedsAJournal(t *testing.T) {
	require.PanicsWithValue(t, "generations: NewJournal needs a journal", func() { generations.NewJournal(nil) })
}
