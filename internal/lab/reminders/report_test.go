package reminders

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An outcome is one reminder and its deliveries, by their attempts.
type outcome struct {
	wish     wish
	attempts []int
}

func TestAReportNamesEachPromiseThatWasBroken(t *testing.T) {
	due := time.Now()
	for name, test := range map[string]struct {
		outcome
		broken string // "": none
	}{
		"delivered once":             {outcome{wish{acknowledged: due}, []int{1}}, ""},
		"delivered again, marked":    {outcome{wish{acknowledged: due}, []int{1, 2}}, ""},
		"delivered again, unmarked":  {outcome{wish{acknowledged: due}, []int{1, 1}}, "without an Attempt above 1"},
		"out of order":               {outcome{wish{acknowledged: due}, []int{2, 1}}, "without an Attempt above 1"},
		"lost":                       {outcome{wish{acknowledged: due}, nil}, "acknowledged and not delivered"},
		"not acknowledged":           {outcome{wish{}, []int{1}}, "not acknowledged"},
		"cancelled":                  {outcome{wish{acknowledged: due, cancelled: true}, nil}, ""},
		"cancelled and delivered":    {outcome{wish{acknowledged: due, cancelled: true}, []int{1}}, "cancelled and delivered"},
		"too late, and delivered":    {outcome{wish{acknowledged: due, tooLate: true}, []int{1}}, ""},
		"too late, and never comes":  {outcome{wish{acknowledged: due, tooLate: true}, nil}, "acknowledged and not delivered"},
		"a second attempt, but once": {outcome{wish{acknowledged: due}, []int{2}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := test.wish
			w.customer, w.key, w.due = "c", "k", due
			var log []receipt
			for _, attempt := range test.attempts {
				log = append(log, receipt{delivery: delivery{Customer: "c", Key: "k", Due: due.UTC(), Attempt: attempt}, at: due})
			}
			err := compare([]*wish{&w}, log, due.Add(time.Second)).verdict()
			if test.broken == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "1 reminders were ")
				require.ErrorContains(t, err, test.broken)
			}
		})
	}
}

func TestADeliveryThatNobodyHasAskedForIsReported(t *testing.T) {
	log := []receipt{{delivery: delivery{Customer: "c", Key: "k", Due: time.Now(), Attempt: 1}}}
	require.ErrorContains(t, compare(nil, log, time.Now()).verdict(), "delivered that nobody has set")
}

func TestLatenessBeginsWhenTheReminderCouldCome(t *testing.T) {
	due := time.Now()
	w := &wish{customer: "c", key: "k", due: due, acknowledged: due.Add(3 * time.Second)}
	at := func(d time.Duration) []receipt {
		return []receipt{{delivery: delivery{Customer: "c", Key: "k", Due: due, Attempt: 1}, at: due.Add(d)}}
	}
	killed := due.Add(4 * time.Second)
	r := compare([]*wish{w}, at(5*time.Second), killed)
	require.Empty(t, r.before)
	require.Equal(t, []time.Duration{2 * time.Second}, r.after)
	r = compare([]*wish{w}, at(time.Second), killed)
	require.Equal(t, []time.Duration{0}, r.before, "its acknowledgement took longer")
}
