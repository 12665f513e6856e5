//go:build !quick

package clustertest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/downing"
)

func TestASchedulePrintsAsItIsRead(t *testing.T) {
	for seed := range uint64(50) {
		s := Chaos{Faults: 30}.Draw(seed)
		again, err := ParseSchedule(s.String())
		require.NoError(t, err)
		require.Equal(t, s, again)
		require.Equal(t, s, Chaos{Faults: 30}.Draw(seed), "the same seed draws the same")
	}
	require.NotEqual(t, Chaos{}.Draw(1), Chaos{}.Draw(2))
}

func TestASchedulesLinesAreReadable(t *testing.T) {
	s := Schedule{
		{At: 1500 * time.Millisecond, Kind: Partition, Sides: [][]string{{"n1", "n2"}, {"n3"}}, For: 12 * time.Second},
		{At: 2 * time.Second, Kind: OneWay, Sides: [][]string{{"n1"}, {"n3"}}, For: time.Second},
		{Kind: Drift, Sides: [][]string{{"n1"}}, Amount: 1.05, For: time.Minute},
		{Kind: Jump, Sides: [][]string{{"n1"}}, Time: -time.Hour, For: time.Second},
		{Kind: Lose, Amount: 0.07, For: time.Second},
	}
	require.Equal(t, `1.5s partition n1,n2 | n3 for 12s
2s oneway n1 -> n3 for 1s
0s drift n1 1.05 for 1m0s
0s jump n1 -1h0m0s for 1s
0s lose 0.07 for 1s
`, s.String())
	require.Equal(t, time.Minute, s.end())
}

func TestParseScheduleSaysWhatItDoesNotUnderstand(t *testing.T) {
	s, err := ParseSchedule(" 3s crash n1 for 5s ;\n\n4s pause n2 for 1s")
	require.NoError(t, err)
	require.Len(t, s, 2)
	for text, want := range map[string]string{
		"crash n1":               "no time, kind and duration",
		"soon crash n1 for 5s":   "invalid duration",
		"3s crash n1 for ever":   "invalid duration",
		"3s flood n1 for 5s":     "no kind \"flood\"",
		"3s crash for 5s":        "takes 1 sides, not 0",
		"3s lose for 5s":         "needs an amount",
		"3s lose much for 5s":    "invalid syntax",
		"3s oneway n1 for 5s":    "takes 2 sides, not 1",
		"3s drift n1 -1 for 5s":  "rate of -1",
		"3s jump n1 far for 5s":  "invalid duration",
		"3s delay n1 1s for 10s": "takes 0 sides, not 1",
	} {
		_, err := ParseSchedule(text)
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "such as")
	}
}

func TestShrinkingFindsWhatIsToBlame(t *testing.T) {
	crash2 := Fault{At: 9 * time.Second, Kind: Crash, Sides: [][]string{{"n2"}}, For: 20 * time.Second}
	pause3 := Fault{At: 11 * time.Second, Kind: Pause, Sides: [][]string{{"n3"}}, For: 10 * time.Second}
	noise := Chaos{Faults: 6, Kinds: []Kind{Lose, Delay}}.Draw(1)
	s := append(append(Schedule{}, noise[:3]...), crash2)
	s = append(append(s, noise[3:]...), pause3)
	sh := shrinker{runs: 200, until: time.Now().Add(time.Minute), fails: func(c Schedule) bool {
		var crashed, paused bool
		for _, f := range c {
			crashed = crashed || f.Kind == Crash && f.For >= 3*time.Second
			paused = paused || f.Kind == Pause
		}
		return crashed && paused
	}}
	small := sh.shrink(s)
	require.Equal(t, `0s crash n2 for 5s
2s pause n3 for 80ms
`, small.String())
	require.Less(t, sh.spent, 60)

	sh = shrinker{runs: 3, until: time.Now().Add(time.Minute), fails: func(Schedule) bool { return false }}
	require.Equal(t, s, sh.shrink(s))
	require.Equal(t, 3, sh.spent, "it keeps to its budget")
}

func TestChaosFindsAPlantedBugAndShrinksIt(t *testing.T) {
	c := Chaos{Nodes: 3, MembershipOnly: true, Faults: 8, ShrinkRuns: 40, ShrinkTime: time.Hour}.withDefaults() // the runs are the bound, on any machine
	planted := func(r *Round) {
		first := r.Node("n2").View().Self.ID()
		r.Always("n2 never dies", func() error {
			if n, runs := r.running("n2"); runs && n.View().Self.ID() == first {
				return nil
			}
			return errors.New("n2 is not what it was")
		})
	}
	s := Chaos{Nodes: 3, Faults: 7, Kinds: []Kind{Lose, Delay, Duplicate, Drift, Jump}}.Draw(1)
	s = append(s, Fault{At: 70 * time.Second, Kind: Crash, Sides: [][]string{{"n2"}}, For: 8 * time.Second})
	f := c.hunt(t, 1, s, planted)
	require.NotNil(t, f)
	require.Equal(t, repeats, f.again)
	require.Len(t, f.smallest, 1)
	require.Equal(t, "n2", f.smallest[0].node())
	report := f.report()
	require.Contains(t, report, `seed 1: "n2 never dies" does not hold: n2 is not what it was`)
	require.Contains(t, report, s.String()[:20])
	require.Contains(t, report, "-chaos.seed=1 -chaos.schedule='0s crash n2 for ")
	require.False(t, t.Failed())
	require.Nil(t, c.hunt(t, 1, f.smallest, func(*Round) {}), "it is the invariant that finds it")
}

func TestChaosSaysWhenAFailureDoesNotRepeat(t *testing.T) {
	c := Chaos{Nodes: 1, MembershipOnly: true, Faults: 1, Kinds: []Kind{Lose}}.withDefaults()
	rounds := 0
	f := c.hunt(t, 1, c.Draw(1), func(r *Round) {
		rounds++
		r.Finally("only the first fails", func() error {
			if rounds == 1 {
				return errors.New("bad luck")
			}
			return nil
		})
	})
	require.NotNil(t, f)
	require.Contains(t, f.report(), "did not fail again in 3 runs")
}

func TestWhatFailsInARoundEndsTheRoundOnly(t *testing.T) {
	c := Chaos{Nodes: 1, Faults: 1, ShrinkRuns: -1}.withDefaults()
	f := c.hunt(t, 1, Schedule{}, func(r *Round) {
		r.Log("so far so good")
		require.Equal(r, 1, 2)
		r.Log("never said")
	})
	require.NotNil(t, f)
	require.Equal(t, failedInTest, f.violation.name)
	require.ErrorContains(t, f.violation.err, "Not equal")
	require.Contains(t, f.report(), "so far so good")
	require.NotContains(t, f.report(), "never said")
	require.False(t, t.Failed())
}

func TestChaosFindsWhatIsLeftRunning(t *testing.T) {
	c := Chaos{Nodes: 1}.withDefaults()
	f := c.hunt(t, 1, Schedule{}, func(*Round) {
		go forgotten()
	})
	require.NotNil(t, f)
	require.Equal(t, leftRunning, f.violation.name)
	require.Contains(t, f.report(), "deadlock")
	require.Contains(t, f.report(), "clustertest.forgotten")
	require.Contains(t, f.report(), "created by")
	require.Contains(t, f.report(), "TestChaosFindsWhatIsLeftRunning")
}

// gaveUp is a strategy that downs every node.
type gaveUp struct{}

func (gaveUp) Delay() time.Duration { return time.Second }
func (gaveUp) Skew() time.Duration  { return 0 }
func (gaveUp) String() string       { return "give up" }

func (gaveUp) Decide(s downing.Situation) downing.Decision {
	here, there := s.Split()
	if s.Stable < time.Second || len(there) == 0 {
		return downing.Decision{}
	}
	return downing.Decision{Down: here, Reason: "out of spite"}
}

func TestMajoritySurvivesNoticesWhenItDoesNot(t *testing.T) {
	s, err := ParseSchedule("5s partition n1 | n2,n3 for 1m")
	require.NoError(t, err)
	c := Chaos{Nodes: 3, MembershipOnly: true, ShrinkRuns: -1}.withDefaults()
	majority := func(r *Round) { r.Check(MajoritySurvives(), OneLeaderPerSide()) }
	require.Nil(t, c.hunt(t, 1, s, majority))
	c.Options = []Option{func(_ string, cfg *cluster.Config) { cfg.Downing = gaveUp{} }}
	f := c.hunt(t, 1, s, majority)
	require.NotNil(t, f)
	require.Equal(t, "a majority survives", f.violation.name)
	require.ErrorContains(t, f.violation.err, "n2,n3 were most of 3 nodes")
}

func TestSidesAreThoseWhoReachEachOther(t *testing.T) {
	c := Chaos{Nodes: 5, ShrinkRuns: -1}.withDefaults()
	f := c.hunt(t, 1, Schedule{}, func(r *Round) {
		sides := func() (all []string) {
			for _, side := range r.sides() {
				all = append(all, names(side))
			}
			return all
		}
		require.Equal(r, []string{"n1,n2,n3,n4,n5"}, sides())
		r.Partition([]string{"n1", "n4"})
		require.Equal(r, []string{"n1,n4", "n2,n3,n5"}, sides())
		r.OneWay("n5", "n2")
		require.Equal(r, []string{"n1,n4"}, sides(), "the other side is no mesh")
		r.Heal()
	})
	require.Nil(t, f)
}

// forgotten runs for ever.
func forgotten() { select {} }

func TestTheEmptyScheduleOfTheCommandLineIsReplayed(t *testing.T) {
	defer func(was Schedule) { chaosSchedule.schedule = was }(chaosSchedule.schedule)
	chaosSchedule.schedule = nil
	require.Nil(t, Chaos{Count: 7}.withFlags().Schedule, "none was given")
	for text, want := range map[string]Schedule{"": {}, "3s pause n1 for 1s": {{At: 3 * time.Second, Kind: Pause, Sides: [][]string{{"n1"}}, For: time.Second}}} {
		require.NoError(t, chaosSchedule.Set(text))
		c := Chaos{Count: 7}.withFlags()
		require.NotNil(t, c.Schedule)
		require.Equal(t, want, c.Schedule)
		require.Equal(t, 1, c.Count)
	}
	require.Error(t, chaosSchedule.Set("nonsense"))
}

func TestARunInWhichNoFaultMeetsAMessageIsVacuous(t *testing.T) {
	s, err := ParseSchedule("1s lose 0.1 for 20s")
	require.NoError(t, err)
	c := Chaos{Nodes: 2}.withDefaults()
	f := c.hunt(t, 1, s, func(r *Round) { say(r) })
	require.NotNil(t, f)
	require.Equal(t, vacuous, f.violation.name)
	require.ErrorContains(t, f.violation.err, "Chaos.MembershipOnly")
	require.False(t, f.repeated, "there is nothing to be made smaller")

	require.Nil(t, c.hunt(t, 1, s, func(r *Round) {
		r.Always("it talks", func() error { say(r); return nil })
	}))
	require.Nil(t, c.hunt(t, 1, Schedule{}, func(*Round) {}), "there were no faults")
	c.MembershipOnly = true
	require.Nil(t, c.hunt(t, 1, s, func(*Round) {}))
}

// say sends a message from n1 to n2.
func say(r *Round) {
	to := r.Node("n2").View().Self.Address
	actor.Resolve[string](r.Node("n1").System, "understudy://test@"+to+"/user/nobody").Tell("hello")
}

func TestFaultsMayBeginWhileTheStoryRuns(t *testing.T) {
	s, err := ParseSchedule("1s partition n1 | n2 for 10s")
	require.NoError(t, err)
	c := Chaos{Nodes: 2, ShrinkRuns: -1}.withDefaults()
	var cut bool
	story := func(r *Round) {
		r.Begin()
		for range 20 {
			time.Sleep(time.Second)
			say(r)
			cut = cut || !r.net.Open("n1", "n2")
		}
	}
	require.Nil(t, c.hunt(t, 1, s, story))
	require.True(t, cut, "the story has seen the fault")
	f := c.hunt(t, 1, s, func(r *Round) {
		r.Begin()
		time.Sleep(5 * time.Second)
		r.Fatal("the story fails")
	})
	require.NotNil(t, f)
	require.Equal(t, failedInTest, f.violation.name)
	f = c.hunt(t, 1, s, func(r *Round) {
		r.Begin()
		say(r)
		time.Sleep(time.Hour)
	})
	require.NotNil(t, f)
	require.Equal(t, "the story ends", f.violation.name)
}
