package orders

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// did returns entries of a ledger, each of which did something.
func did(token uint64, what ...string) (log []entry) {
	for _, one := range what {
		e := entry{what: one, order: "o", token: token, status: http.StatusOK, did: true}
		if one == "charge" || one == "refund" {
			e.cents = 10_00
		}
		log = append(log, e)
	}
	return log
}

func TestAReportNamesEachPromiseThatWasBroken(t *testing.T) {
	bad, no := Order{Cents: 10_00, Card: badCard}, &Approval{}
	goods := Order{Cents: 10_00}
	done := outcome{End: shipped, Receipt: Receipt{Charged: 10_00}}
	told := outcome{End: shipped, Receipt: Receipt{Charged: 10_00, Notified: true}}
	for name, test := range map[string]struct {
		purchase
		log    []entry
		broken string // "": nothing
	}{
		"shipped":                {purchase{order: goods, end: done}, did(1, "reserve", "charge", "ship"), ""},
		"shipped and notified":   {purchase{order: goods, end: told}, did(1, "reserve", "charge", "notify", "ship"), ""},
		"not notified":           {purchase{order: goods, end: told}, did(1, "reserve", "charge", "ship"), "1 orders were not notified"},
		"charged twice":          {purchase{order: goods, end: done}, did(1, "reserve", "charge", "charge", "ship"), "1 orders have more than one charge"},
		"not charged":            {purchase{order: goods, end: done}, did(1, "reserve", "ship"), "1 orders were shipped and not charged"},
		"shipped and given back": {purchase{order: goods, end: done}, did(1, "reserve", "charge", "ship", "recall"), "1 orders were shipped without their goods"},
		"by a successor":         {purchase{order: goods, end: done}, append(did(1, "reserve"), did(2, "charge", "ship")...), ""},
		"by a process that was replaced": {
			purchase{order: goods, end: done}, append(did(2, "reserve"), did(1, "charge", "ship")...), "1 orders were worked on by a process that was replaced",
		},
		"declined":              {purchase{order: bad, end: outcome{End: declined}}, did(1, "reserve", "release"), ""},
		"declined and kept":     {purchase{order: bad, end: outcome{End: declined}}, did(1, "reserve"), "1 orders were not shipped, and their goods"},
		"refused":               {purchase{order: goods, approve: no, end: outcome{End: refused}}, did(1, "reserve", "release"), ""},
		"refused and charged":   {purchase{order: goods, approve: no, end: outcome{End: refused}}, did(1, "reserve", "charge", "refund", "release"), "1 orders were declined or refused, and charged"},
		"cancelled":             {purchase{order: goods, cancel: true, accepted: true, end: outcome{End: cancelled}}, did(1, "reserve", "charge", "refund", "release"), ""},
		"cancelled and charged": {purchase{order: goods, cancel: true, end: outcome{End: cancelled}}, did(1, "reserve", "charge", "release"), "1 orders were not shipped, and their money was kept"},
		"cancelled and shipped": {purchase{order: goods, cancel: true, accepted: true, end: done}, did(1, "reserve", "charge", "ship"), "1 orders have an end that they must not have"},
		"cancelled too late":    {purchase{order: goods, cancel: true, end: done}, did(1, "reserve", "charge", "ship"), ""},
		"lost":                  {purchase{order: goods, end: outcome{End: unknown}}, nil, "1 orders have an end that they must not have"},
	} {
		t.Run(name, func(t *testing.T) {
			p := test.purchase
			p.id = "o"
			err := compare([]*purchase{&p}, test.log).verdict()
			if test.broken == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.broken)
			}
		})
	}
}

func TestAnOrderThatNobodyHasPlacedIsReported(t *testing.T) {
	require.ErrorContains(t, compare(nil, did(1, "reserve")).verdict(), "1 orders were never placed")
}

func TestTheLedgerDoesNothingTwiceAndNothingForAProcessThatWasReplaced(t *testing.T) {
	l := newLedger()
	ask := func(what string, token uint64) entry {
		r := httptest.NewRequest(http.MethodPost, "/"+what+"/o?cents=1000", nil)
		r.SetPathValue("what", what)
		r.SetPathValue("order", "o")
		r.Header.Set(outside.KeyHeader, "order/o/"+what)
		r.Header.Set(outside.ScopeHeader, "order/o")
		r.Header.Set(outside.TokenHeader, strconv.FormatUint(token, 10))
		l.note(httptest.NewRecorder(), r)
		all := l.entries()
		return all[len(all)-1]
	}
	require.True(t, ask("charge", 2).did)
	again := ask("charge", 2)
	require.True(t, again.again)
	require.False(t, again.did)
	require.Equal(t, http.StatusOK, again.status)
	require.Equal(t, http.StatusPreconditionFailed, ask("ship", 1).status)
	refund := ask("refund", 3)
	require.True(t, refund.did)
	require.Equal(t, 10_00, refund.cents)
	require.False(t, ask("recall", 3).did)
	require.Equal(t, http.StatusGone, ask("ship", 3).status)
}
