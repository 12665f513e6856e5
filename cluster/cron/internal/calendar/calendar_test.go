package calendar_test

import (
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata" // the zones of Go, not of the machine

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/cron/internal/calendar"
)

func TestNext(t *testing.T) {
	tests := []struct {
		name, spec, zone, after string
		want                    []string
	}{
		{"UTC is the default", "30 6 * * MON-FRI", "", "2026-11-27T06:29:59Z", []string{"2026-11-27T06:30:00Z", "2026-11-30T06:30:00Z"}},
		{"a time is not after itself", "30 6 * * *", "", "2026-11-27T06:30:00Z", []string{"2026-11-28T06:30:00Z"}},
		{"a leap day", "0 0 29 2 *", "", "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00:00Z"}},
		{"day of month or day of week", "0 0 1 * FRI", "", "2026-11-26T00:00:00Z", []string{"2026-11-27T00:00:00Z", "2026-12-01T00:00:00Z"}},

		{"Sunday is 0", "0 0 * * 0", "", "2026-11-27T00:00:00Z", []string{"2026-11-29T00:00:00Z", "2026-12-06T00:00:00Z"}},
		{"Sunday is 7", "0 0 * * 7", "", "2026-11-27T00:00:00Z", []string{"2026-11-29T00:00:00Z", "2026-12-06T00:00:00Z"}},
		{"Friday to Sunday", "0 0 * * 5-7", "", "2026-11-27T00:00:00Z", []string{"2026-11-28T00:00:00Z", "2026-11-29T00:00:00Z", "2026-12-04T00:00:00Z"}},
		{"every other day of the week", "0 0 * * 1-7/2,2", "", "2026-11-27T00:00:00Z", []string{"2026-11-29T00:00:00Z", "2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z"}},

		{"skipped in Berlin: once at the end", "*/20 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
		{"skipped, and the end itself", "0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"}},
		{"around the hour that is skipped", "30 1,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"}},
		{"every hour goes on", "30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", []string{"2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"}},
		{"doubled in Berlin: once", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"}},
		{"the first moment that is doubled", "0 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T02:00:00+02:00", "2026-10-26T02:00:00+01:00"}},
		{"the first moment that is not", "0 3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T03:00:00+01:00"}},
		{"asked while it is doubled", "30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", []string{"2026-10-26T02:30:00+01:00"}},
		{"a star with a step names no time of day: it goes on", "0 */2 * * *", "Europe/Berlin", "2026-03-28T23:30:00Z", []string{"2026-03-29T04:00:00+02:00"}},
		{"and it is due twice", "0 */2 * * *", "Europe/Berlin", "2026-10-24T22:30:00Z", []string{"2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T04:00:00+01:00"}},
		{"every hour, also twice", "0 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", []string{"2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00"}},

		{"skipped in New York", "30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", []string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"}},
		{"doubled in New York", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", []string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"}},
		{"half an hour is skipped on Lord Howe", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"}},
		{"half an hour is doubled on Lord Howe", "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", []string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"}},
		{"midnight is skipped in Cairo", "0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", []string{"2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"}},
		{"a day is skipped in Samoa", "0 12 * * *", "Pacific/Apia", "2011-12-29T23:00:00Z", []string{"2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := calendar.Parse(test.spec, test.zone)
			require.NoError(t, err)
			at, err := time.Parse(time.RFC3339, test.after)
			require.NoError(t, err)
			for _, want := range test.want {
				at = c.Next(at)
				require.Equal(t, want, at.Format(time.RFC3339))
			}
		})
	}
}

// What crontab(5) says of days: one of two is enough, unless one begins with a star. And what
// Quartz and EventBridge add.
func TestDays(t *testing.T) {
	for spec, want := range map[string][]string{
		"0 0 1-7 12 MON":         {"Tue 1", "Wed 2", "Thu 3", "Fri 4", "Sat 5", "Sun 6", "Mon 7", "Mon 14", "Mon 21", "Mon 28"},
		"0 0 */100,1-7 12 MON":   {"Mon 7"},
		"0 0 */2 12 MON":         {"Mon 7", "Mon 21"},
		"0 0 1-31/2 12 7":        {"Tue 1", "Thu 3", "Sat 5", "Sun 6", "Mon 7", "Wed 9", "Fri 11", "Sun 13", "Tue 15", "Thu 17", "Sat 19", "Sun 20", "Mon 21", "Wed 23", "Fri 25", "Sun 27", "Tue 29", "Thu 31"},
		"0 0 13 12 */7":          {"Sun 13"},
		"0 0 6 12 */5":           {"Sun 6"},
		"0 0 *,15 12 TUE":        {"Tue 1", "Tue 8", "Tue 15", "Tue 22", "Tue 29"},
		"0 0 ? 12 TUE":           {"Tue 1", "Tue 8", "Tue 15", "Tue 22", "Tue 29"},
		"0 0 1 12 ?":             {"Tue 1"},
		"0 0 * 12 SAT-SUN":       {"Sat 5", "Sun 6", "Sat 12", "Sun 13", "Sat 19", "Sun 20", "Sat 26", "Sun 27"},
		"0 0 * 12 mon#1":         {"Mon 7"},
		"0 0 * 12 2#5,0#4,7#2":   {"Sun 13", "Sun 27", "Tue 29"},
		"0 0 * 12 FRIL":          {"Fri 25"},
		"0 0 * 12 7L,4L":         {"Sun 27", "Thu 31"},
		"0 0 L 12 *":             {"Thu 31"},
		"0 0 L-2,3 12 *":         {"Thu 3", "Tue 29"},
		"0 0 LW 10,12 *":         {"Fri 30", "Thu 31"},
		"0 0 1W 8,11,12 *":       {"Mon 3", "Mon 2", "Tue 1"},
		"0 0 12W,13w,30W 12 *":   {"Fri 11", "Mon 14", "Wed 30"},
		"0 0 31W,31 5,9,10,12 *": {"Fri 29", "Sun 31", "Fri 30", "Sat 31", "Thu 31"},
		"0 0 L 2 MON":            {"Mon 2", "Mon 9", "Mon 16", "Mon 23", "Sat 28"},
	} {
		c, err := calendar.Parse(spec, "")
		require.NoError(t, err, spec)
		var got []string
		for at := c.Next(time.Date(2025, 12, 31, 12, 0, 0, 0, time.UTC)); at.Year() == 2026; at = c.Next(at) {
			got = append(got, at.Format("Mon 2"))
		}
		require.Equal(t, want, got, spec)
	}
}

func TestTheFirstMondayOfTheMonthHasTwelveRuns(t *testing.T) {
	for _, spec := range []string{"0 6 * * MON#1", "0 6 */100,1-7 * MON"} {
		c, err := calendar.Parse(spec, "")
		require.NoError(t, err)
		require.Equal(t, 12, c.Count(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)), spec)
	}
}

// Whatever the expression and the zone: times increase, asking in between gives the same, and each
// day has a run of an expression that names one time of day.
func TestNextIsConsistent(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/Sao_Paulo", "Asia/Kathmandu", ""}
	random := rand.New(rand.NewPCG(1, 2))
	for _, zone := range zones {
		for _, spec := range []string{"0 0 * * *", "30 1 * * *", "30 2 * * *", "0 3 * * *", "59 23 * * *", "*/7 * * * *", "0 */2 * * *"} {
			c, err := calendar.Parse(spec, zone)
			require.NoError(t, err)
			at := c.Next(time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC))
			for range 1000 {
				next := c.Next(at)
				require.True(t, next.After(at), "%s %s %v", spec, zone, at)
				between := at.Add(time.Duration(random.Int64N(int64(next.Sub(at)))))
				require.True(t, next.Equal(c.Next(between)), "%s %s: %v after %v, %v after %v", spec, zone, next, at, c.Next(between), between)
				if spec[len(spec)-5:] == "* * *" && spec[0] != '*' && spec[2] != '*' && spec[3] != '*' {
					require.Less(t, next.Sub(at), 26*time.Hour, "%s %s %v", spec, zone, at)
					require.NotEqual(t, at.YearDay(), next.YearDay(), "%s %s %v %v", spec, zone, at, next)
				}
				at = next
			}
		}
	}
}

func TestWhatParseRefuses(t *testing.T) {
	tests := map[string]struct{ spec, zone, want string }{
		"too few fields":    {"* * * *", "", "does not have the five fields"},
		"seconds":           {"* * * * * *", "", "does not have the five fields"},
		"a descriptor":      {"@daily", "", "does not have the five fields"},
		"a zone inside":     {"TZ=Europe/Berlin * * * *", "", "does not have the five fields"},
		"a bad minute":      {"60 * * * *", "", `the cron expression "60 * * * *": the minute "60" is not from 0 to 59`},
		"no such day":       {"0 0 30 2 *", "", "no month has that day"},
		"an unknown zone":   {"0 0 * * *", "Mars/Olympus", `the time zone "Mars/Olympus": `},
		"the host's zone":   {"0 0 * * *", "Local", "differs from host to host"},
		"nothing":           {"", "", "does not have the five fields"},
		"an empty list":     {",,, * * * *", "", "a list with an empty element"},
		"a negative range":  {"5-1 * * * *", "", `the range "5-1" ends before it begins`},
		"a step of nothing": {"*/0 * * * *", "", "is not a positive number"},
		"a sixth Monday":    {"0 0 * * MON#6", "", "#1 to #5"},
		"the last of what":  {"0 0 * * L", "", "FRIL"},
		"a day's W":         {"0 0 W * *", "", "day of the month"},
		"a month's name":    {"0 0 JAN * *", "", `the day of the month "JAN" is not from 1 to 31`},
		"a range of a star": {"*-5 * * * *", "", "the minute"},
		"a signed number":   {"+5 * * * *", "", "the minute"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := calendar.Parse(test.spec, test.zone)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("30 6 * * MON-FRI", "Europe/Berlin", int64(1_800_000_000))
	f.Fuzz(func(t *testing.T, spec, zone string, at int64) {
		c, err := calendar.Parse(spec, zone)
		if err != nil {
			return
		}
		from := time.Unix(at%4_000_000_000, 0)
		if next := c.Next(from); !next.IsZero() {
			require.True(t, next.After(from))
		}
	})
}

func BenchmarkNext(b *testing.B) {
	c, err := calendar.Parse("*/5 * * * *", "Europe/Berlin")
	require.NoError(b, err)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for b.Loop() {
		at = c.Next(at)
	}
}

func TestLastAndCount(t *testing.T) {
	c, err := calendar.Parse("*/30 * * * *", "")
	require.NoError(t, err)
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, 6, c.Count(from, from.Add(3*time.Hour)))
	require.Equal(t, []time.Time{from.Add(150 * time.Minute), from.Add(3 * time.Hour)}, c.Last(from, from.Add(3*time.Hour), 2))
	require.Zero(t, c.Count(from, from))
	require.Empty(t, c.Last(from, from, 2))
	century := from.AddDate(100, 0, 0)
	require.Equal(t, int(century.Sub(from)/(30*time.Minute)), c.Count(from, century))
	last := c.Last(from, century, 1000)
	require.Len(t, last, 1000)
	require.Equal(t, century, last[999])
	require.Equal(t, century.Add(-999*30*time.Minute), last[0])
}

// Whatever the expression, the zone and the period: Count is how often Next goes on, and Last its
// last steps.
func TestCountAgreesWithNext(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, zone := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Apia", ""} {
		for _, spec := range []string{"*/7 * * * *", "30 2 * * *", "*/20 1-3 * * *", "0 */2 * * *", "0 0,2,3 LW * 5", "15 1 1,15 3,10 SUN"} {
			c, err := calendar.Parse(spec, zone)
			require.NoError(t, err)
			for range 4 {
				from := time.Unix(1_300_000_000+random.Int64N(400_000_000), random.Int64N(3)*1000)
				to := from.Add(time.Duration(random.Int64N(int64(120 * 24 * time.Hour))))
				var all []time.Time
				for at := c.Next(from); !at.IsZero() && !at.After(to); at = c.Next(at) {
					all = append(all, at)
				}
				require.Equal(t, len(all), c.Count(from, to), "%s in %s from %v to %v", spec, zone, from, to)
				require.Equal(t, all[max(len(all)-5, 0):], c.Last(from, to, 5))
			}
		}
	}
}
