package status

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/testkit"
)

func TestThePageHasTheFieldsOfAllSectionsAndTheirProblemsByLevel(t *testing.T) {
	s := testkit.NewSystem(t)
	section := func(l Level, field string) Section {
		return Section{Level: l, Read: func() (map[string]any, []Problem) {
			return map[string]any{field: 7}, []Problem{{Kind: field}}
		}}
	}
	AddSection(s, section(Schedules, "late"))
	AddSection(s, section(Connections, "links"))
	details, problems := Read(s)
	require.Equal(t, 7, details["late"])
	require.Equal(t, 7, details["links"])
	require.Contains(t, details, "time")
	require.Equal(t, []Problem{{Kind: "links"}, {Kind: "late"}}, problems)
}

func TestOfManyProblemsOfASectionTheFirstAreListed(t *testing.T) {
	s := testkit.NewSystem(t)
	AddSection(s, Section{Read: func() (_ map[string]any, found []Problem) {
		for n := range 100 {
			found = append(found, Problem{Kind: "link", About: strconv.Itoa(n)})
		}
		return nil, found
	}})
	_, found := Read(s)
	require.Len(t, found, mostProblems+1)
	require.Equal(t, "19", found[mostProblems-1].About)
	require.Equal(t, Problem{Kind: "link", Text: "There are 80 more problems of this kind."}, found[mostProblems])
}

func TestOthersAreAskedOnceASecondForAllWhoLook(t *testing.T) {
	var o OnDemand[int]
	end, wait := o.begin(time.Now())
	require.NotNil(t, end)
	require.Nil(t, wait)
	second, wait := o.begin(time.Now())
	require.Nil(t, second, "somebody asks already")
	require.NotNil(t, wait)
	end(func(held int) int { return held + 3 })
	<-wait
	require.Equal(t, 3, o.Read())
	third, wait := o.begin(time.Now())
	require.Nil(t, third, "it is new enough")
	require.Nil(t, wait)
	fourth, _ := o.begin(time.Now().Add(Hold))
	require.NotNil(t, fourth)
}

func TestACoordinatorThatDoesNotAnswerIsAskedAgainAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := Coordinator[string]{Ask: func(ctx context.Context) (string, error) {
			if asked++; asked > 1 {
				return "n1", nil
			}
			<-ctx.Done()
			return "", errors.New("it hangs")
		}}
		begun := time.Now()
		c.Refresh(t.Context())
		require.Equal(t, Patience, time.Since(begun))
		answer, failure := c.Read()
		require.Nil(t, answer)
		require.Equal(t, "it hangs", failure)
		c.Refresh(t.Context())
		require.Equal(t, 1, asked)
		time.Sleep(Rest)
		c.Refresh(t.Context())
		answer, failure = c.Read()
		require.Equal(t, "n1", *answer)
		require.Empty(t, failure)
	})
}
