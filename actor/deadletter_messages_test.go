package actor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// A model knows which messages must be kept: those of the last letters, as many as may be and as
// many bytes.
type lettersModel struct {
	most int
	kept []modelLetter
}

type modelLetter struct {
	number uint64
	size   int
}

func (m *lettersModel) add(number uint64, size int) {
	m.kept = append(m.kept, modelLetter{number, size})
	for len(m.kept) > m.most || m.bytes() > mostMessageBytes {
		m.kept = m.kept[1:]
	}
}

func (m *lettersModel) bytes() (n int) {
	for _, l := range m.kept {
		n += l.size
	}
	return n
}

func (m *lettersModel) remove(number uint64) (was bool) {
	before := len(m.kept)
	m.kept = slices.DeleteFunc(m.kept, func(l modelLetter) bool { return l.number == number })
	return len(m.kept) < before
}

func TestAsManyMessagesAreKeptAsThereMayBeAndEachIsListed(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 42)) //nolint:gosec // a test
			model := lettersModel{most: 1 + random.IntN(400)}
			log := deadLetterLog{kept: keptDeadLetters{messages: keptMessages{most: model.most}}}
			var last uint64
			for range 2000 {
				if last > 0 && random.IntN(3) == 0 {
					number := 1 + random.Uint64N(last)
					log.mu.Lock()
					require.Equal(t, model.remove(number), log.kept.take(number) != nil)
					log.mu.Unlock()
				} else {
					text := strings.Repeat("x", 10)
					if random.IntN(20) == 0 {
						text = strings.Repeat("x", random.IntN(3<<20))
					}
					d := DeadLetter{Recipient: fmt.Sprint("understudy://test/user/till-", random.IntN(3)), Message: text, Reason: ErrTerminated}
					log.note(&d, nil)
					last++
					all := log.kept.messages.all
					model.add(last, all[len(all)-1].size())
				}
				log.requireLike(t, &model)
			}
		})
	}
}

func (l *deadLetterLog) requireLike(t *testing.T, model *lettersModel) {
	t.Helper()
	var want, kept, listed []uint64
	for _, m := range model.kept {
		want = append(want, m.number)
	}
	for _, m := range l.kept.messages.all {
		kept = append(kept, m.number)
	}
	all := l.newest()
	slices.Reverse(all)
	for _, d := range all {
		listed = append(listed, d.Numbers...)
	}
	require.Equal(t, want, kept)
	require.Equal(t, want, listed)
	require.Equal(t, model.bytes(), l.kept.messages.bytes)
	require.LessOrEqual(t, len(all), max(mostKept, model.most))
}

func TestADescriptionThatGivesWayTakesItsMessagesAlong(t *testing.T) {
	k := keptDeadLetters{messages: keptMessages{most: 1}}
	for i := range mostKept + 1 {
		var m *keptMessage
		if i == 0 {
			m = new(keptMessage)
		}
		k.add(actorhook.DeadLetter{Recipient: fmt.Sprint(i)}, m)
		require.Len(t, k.messages.all, min(1, mostKept-i))
	}
}
