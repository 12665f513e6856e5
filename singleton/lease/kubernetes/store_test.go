package kubernetes

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/understudy-go/understudy/singleton/lease"
)

// The numbers are those of group N of the cases of murmer and actor-ts.

// rivals is a record of another holder, as it may have been written by anybody.
func rivals(seconds int32, renewed time.Time) *coordinationv1.Lease {
	o := newObject("register")
	o.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: new("rival"), LeaseDurationSeconds: &seconds, LeaseTransitions: new(int32(7)),
		AcquireTime: &metav1.MicroTime{Time: renewed}, RenewTime: &metav1.MicroTime{Time: renewed},
	}
	return o
}

// 215
func TestTheFirstAcquisitionCreatesTheObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		c := claim("a")
		c.TTL = 4500 * time.Millisecond
		g, err := newStore(t, server).Take(t.Context(), c)
		require.NoError(t, err)
		require.Equal(t, uint64(1), g.Token)
		require.Equal(t, []string{"GET register 404", "POST leases 201"}, server.requests())
		o := server.get("register")
		require.Equal(t, "a", *o.Spec.HolderIdentity)
		require.Equal(t, int32(1), *o.Spec.LeaseTransitions)
		require.Equal(t, int32(5), *o.Spec.LeaseDurationSeconds, "rounded up")
		require.Equal(t, o.ResourceVersion, g.Version)
		require.Equal(t, "register", o.Annotations[NameAnnotation])
		require.True(t, o.Spec.AcquireTime.Equal(o.Spec.RenewTime))
	})
}

func TestTimesHaveSixDigits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		g := take(t, s, "a") // at midnight exactly, as time begins in a bubble
		time.Sleep(1500 * time.Nanosecond)
		g, err := s.Renew(t.Context(), g)
		require.NoError(t, err)
		require.NoError(t, s.Release(t.Context(), g))
		require.Len(t, server.bodies(), 3)
		require.Contains(t, server.bodies()[0], `"renewTime":"2000-01-01T00:00:00.000000Z"`)
		require.Contains(t, server.bodies()[1], `"renewTime":"2000-01-01T00:00:00.000001Z"`)
	})
}

// 217
func TestAReleaseThatFailsIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		l, err := lease.New(newStore(t, server), "register", "a", lease.Settings{TTL: 5 * time.Second})
		require.NoError(t, err)
		held, err := l.Acquire(t.Context())
		require.NoError(t, err)
		require.True(t, held)
		server.fail(always(fault{status: http.StatusInternalServerError}, http.MethodPut))
		require.ErrorContains(t, l.Release(within(t, 4*time.Second)), "500")
		require.False(t, l.Valid())
		server.fail(nil)
		time.Sleep(time.Minute)
		server.forget()
		time.Sleep(time.Minute)
		require.Empty(t, server.requests(), "nothing renews it")
	})
}

// 218
func TestALeaseThatAnotherHoldsIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		take(t, newStore(t, server), "a")
		server.forget()
		start := time.Now()
		_, err := newStore(t, server).Take(t.Context(), claim("b"))
		require.ErrorIs(t, err, lease.ErrHeld)
		require.ErrorContains(t, err, `"a" has it`)
		require.Zero(t, time.Since(start))
		require.Equal(t, []string{"GET register 200"}, server.requests())
	})
}

// Only the time for which the record has been seen unchanged counts, whatever its stamps say. A
// stamp that has expired is not believed at once.
func TestALeaseExpiresWhenItHasBeenSeenUnchangedForItsDuration(t *testing.T) {
	ttl := 5 * time.Second
	for _, c := range []struct {
		name    string
		seconds int32
		renewed time.Duration // from now
		expires time.Duration
	}{
		{"220: a duration without measure is four times ours", 2147483647, -time.Minute, 4 * ttl},
		{"221: a stamp ten years ahead", 5, 10 * 365 * 24 * time.Hour, ttl},
		{"a stamp ten years ago", 5, -10 * 365 * 24 * time.Hour, ttl},
		{"223: a longer duration than ours, renewed ten seconds ago", 15, -10 * time.Second, 15 * time.Second},
		{"a shorter duration than ours", 2, 0, 2 * time.Second},
		{"224: a negative duration is ours", -3, 0, ttl},
		{"224: and so is none", 0, 0, ttl},
		{"241: a dead holder whose clock is 60 s ahead of ours", 5, 60 * time.Second, ttl},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newAPIServer()
				server.put(rivals(c.seconds, time.Now().Add(c.renewed)))
				s := newStore(t, server)
				_, err := s.Take(t.Context(), claim("a"))
				require.ErrorIs(t, err, lease.ErrHeld, "it has just been seen for the first time")
				time.Sleep(c.expires - 1)
				_, err = s.Take(t.Context(), claim("a"))
				require.ErrorIs(t, err, lease.ErrHeld)
				time.Sleep(time.Nanosecond)
				g, err := s.Take(t.Context(), claim("a"))
				require.NoError(t, err)
				require.Equal(t, uint64(8), g.Token)
			})
		})
	}
}

func TestARecordThatChangesIsNotOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		for range 10 {
			server.put(rivals(5, time.Now()))
			_, err := s.Take(t.Context(), claim("a"))
			require.ErrorIs(t, err, lease.ErrHeld)
			time.Sleep(4 * time.Second)
		}
		touched := server.get("register")
		touched.Annotations["who"] = "an administrator"
		server.put(touched)
		time.Sleep(time.Second)
		take(t, s, "a") // what is not in the record is no sign of life
	})
}

func TestAReleasedLeaseIsFreeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		a := newStore(t, server)
		g := take(t, a, "a")
		require.NoError(t, a.Release(t.Context(), g))
		o := server.get("register")
		require.Empty(t, *o.Spec.HolderIdentity)
		require.Equal(t, int32(1), *o.Spec.LeaseTransitions, "the count stays")
		require.NotContains(t, server.requests(), "DELETE register 200")
		require.Equal(t, uint64(2), take(t, newStore(t, server), "b").Token)
	})
}

// 226
func TestAWriteThatIsAlwaysSecondIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		require.NoError(t, s.Release(t.Context(), take(t, s, "a")))
		server.forget()
		server.fail(always(fault{status: http.StatusConflict}, http.MethodPut))
		_, err := s.Take(t.Context(), claim("b"))
		require.ErrorIs(t, err, lease.ErrHeld)
		require.Equal(t, []string{
			"GET register 200",
			"PUT register 409", "GET register 200", "PUT register 409", "GET register 200", "PUT register 409", "GET register 200",
		}, server.requests())
	})
}

// 230
func TestOfManyThatAcquireAtOnceOneDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		server.fail(always(fault{delay: 10 * time.Millisecond}, http.MethodPost, http.MethodPut))
		for round := range 20 {
			type result struct {
				release func() error
				err     error
			}
			results := make(chan result, 4)
			for _, owner := range []string{"a", "b", "c", "d"} {
				s := newStore(t, server)
				go func() {
					g, err := s.Take(t.Context(), claim(owner))
					results <- result{func() error { return s.Release(t.Context(), g) }, err}
				}()
			}
			var winners []result
			for range cap(results) {
				if r := <-results; r.err == nil {
					winners = append(winners, r)
				} else {
					require.ErrorIs(t, r.err, lease.ErrHeld)
				}
			}
			require.Len(t, winners, 1)
			require.NoError(t, winners[0].release())
			require.Equal(t, uint64(round+1), transitions(server.get("register")))
		}
	})
}

// 239
func TestAReleaseOfAnOldGrantLeavesTheNextHolderAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		a, b := newStore(t, server), newStore(t, server)
		old := take(t, a, "a")
		_, err := b.Take(t.Context(), claim("b"))
		require.ErrorIs(t, err, lease.ErrHeld)
		time.Sleep(5 * time.Second)
		take(t, b, "b")
		theirs := server.get("register")
		require.NoError(t, a.Release(t.Context(), old))
		_, err = a.Renew(t.Context(), old)
		require.ErrorIs(t, err, lease.ErrLost)
		require.Equal(t, theirs, server.get("register"))
	})
}

// 242
func TestARefusalSaysWhichVerbsAreMissing(t *testing.T) {
	for _, verbs := range []string{"", "get", "get update"} {
		synctest.Test(t, func(t *testing.T) {
			server := newAPIServer()
			server.allow(map[string]string{"secret": verbs})
			_, err := newStore(t, server).Take(t.Context(), claim("a"))
			require.ErrorContains(t, err, "403 Forbidden")
			require.ErrorContains(t, err, "verbs get, create and update on leases of coordination.k8s.io")
			require.NotErrorIs(t, err, lease.ErrHeld)
			server.allow(map[string]string{"secret": allVerbs})
			take(t, newStore(t, server), "a")
		})
	}
}

// 244
func TestTokensGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		a, b := newStore(t, server), newStore(t, server)
		last := uint64(0)
		next := func(s *Store, holder string, floor uint64) lease.Grant {
			c := claim(holder)
			c.Floor = floor
			g, err := s.Take(t.Context(), c)
			require.NoError(t, err)
			require.Greater(t, g.Token, max(last, floor))
			last = g.Token
			return g
		}
		next(a, "a", 0)
		g := next(a, "a", 0) // the same holder
		require.NoError(t, a.Release(t.Context(), g))
		g = next(b, "b", 0)
		require.NoError(t, b.Release(t.Context(), g))
		g = next(a, "a", 1000)
		require.NoError(t, a.Release(t.Context(), g))
		next(b, "b", 5)
		require.Equal(t, uint64(1002), last)
	})
}

func TestTheTokenHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := claim("a")
		c.Floor = 1<<31 - 1
		_, err := newStore(t, newAPIServer()).Take(t.Context(), c)
		require.ErrorContains(t, err, "leaseTransitions has 31 bits")
	})
}

// 245
func TestTwoProcessesWithTheSameOwnerAreTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		first, err := lease.New(newStore(t, server), "register", "pod", lease.Settings{})
		require.NoError(t, err)
		second, err := lease.New(newStore(t, server), "register", "pod", lease.Settings{})
		require.NoError(t, err)
		held, err := first.Acquire(t.Context())
		require.NoError(t, err)
		require.True(t, held)
		held, err = second.Acquire(t.Context())
		require.NoError(t, err)
		require.False(t, held)
		require.NoError(t, first.Release(t.Context()))
	})
}

func TestALostAnswerIsReadBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		server.fail(once(fault{lost: true}, http.MethodPost))
		g := take(t, s, "a")
		require.Equal(t, uint64(1), g.Token)
		server.fail(once(fault{lost: true}, http.MethodPut))
		g, err := s.Renew(t.Context(), g)
		require.NoError(t, err)
		require.Equal(t, server.get("register").ResourceVersion, g.Version)
		server.fail(once(fault{lost: true}, http.MethodPut))
		require.NoError(t, s.Release(t.Context(), g))
		require.Empty(t, *server.get("register").Spec.HolderIdentity)
		require.Equal(t, uint64(1), transitions(server.get("register")))
	})
}

func TestAServerThatFailsLeavesItUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		server.fail(always(fault{status: http.StatusInternalServerError}, http.MethodPost))
		_, err := s.Take(t.Context(), claim("a"))
		require.ErrorContains(t, err, "500 Internal Server Error")
		require.NotErrorIs(t, err, lease.ErrHeld)
		server.fail(nil)
		g := take(t, s, "a")
		server.fail(always(fault{status: http.StatusInternalServerError}, http.MethodPut))
		_, err = s.Renew(t.Context(), g)
		require.ErrorContains(t, err, "500 Internal Server Error")
		require.NotErrorIs(t, err, lease.ErrLost)
	})
}

func TestANamespaceThatDoesNotExistIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		elsewhere := New(clientOf(t, newAPIServer()), "nowhere")
		_, err := elsewhere.Take(t.Context(), claim("a"))
		require.ErrorContains(t, err, "the namespace must exist")
		require.NotErrorIs(t, err, lease.ErrHeld)
	})
}

func TestEveryUpdateCarriesWhatWasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newAPIServer()
		s := newStore(t, server)
		g := take(t, s, "a")
		g, err := s.Renew(t.Context(), g)
		require.NoError(t, err)
		require.NoError(t, s.Release(t.Context(), g))
		for _, body := range server.bodies()[1:] {
			var o coordinationv1.Lease
			require.NoError(t, json.Unmarshal([]byte(body), &o))
			require.NotEmpty(t, o.ResourceVersion)
			require.NotEmpty(t, o.UID)
		}
	})
}
