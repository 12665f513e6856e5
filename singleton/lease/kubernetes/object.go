package kubernetes

import (
	"fmt"
	"math"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/understudy-go/understudy/singleton/lease"
)

// credible is the maximum factor between another holder's duration and our own.
const credible = 4

func newObject(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name:        ObjectName(name),
		Annotations: map[string]string{NameAnnotation: name},
	}}
}

func holder(o *coordinationv1.Lease) string {
	if o.Spec.HolderIdentity == nil {
		return ""
	}
	return *o.Spec.HolderIdentity
}

func transitions(o *coordinationv1.Lease) uint64 {
	if o.Spec.LeaseTransitions == nil {
		return 0
	}
	return uint64(max(*o.Spec.LeaseTransitions, 0))
}

// holds reports whether o is the lease of g and not of another acquisition. A grant without a token
// belongs to a request whose answer was lost.
func holds(o *coordinationv1.Lease, g lease.Grant) bool {
	return holder(o) == g.Holder && (g.Token == 0 || transitions(o) == g.Token)
}

// duration returns how long the record in o is valid, as judged by a contender with leases of ttl.
func duration(o *coordinationv1.Lease, ttl time.Duration) time.Duration {
	ours := time.Duration(seconds(ttl)) * time.Second
	if o.Spec.LeaseDurationSeconds == nil || *o.Spec.LeaseDurationSeconds <= 0 {
		return ours
	}
	return min(time.Duration(*o.Spec.LeaseDurationSeconds)*time.Second, credible*ours)
}

// seconds rounds up, because the lease must not expire for others before it does for its holder.
func seconds(ttl time.Duration) int32 {
	return int32(min(max((ttl+time.Second-1)/time.Second, 1), math.MaxInt32))
}

func nextToken(above uint64) (int32, error) {
	if above >= math.MaxInt32 {
		return 0, fmt.Errorf("there is no token above %d: leaseTransitions has 31 bits; use another name for the lease", above)
	}
	return int32(above) + 1, nil
}

// taken returns o as it is after c's holder has taken it.
func taken(o *coordinationv1.Lease, c lease.Claim, token int32) *coordinationv1.Lease {
	o = o.DeepCopy()
	if o.Annotations == nil {
		o.Annotations = map[string]string{}
	}
	o.Annotations[NameAnnotation] = c.Name
	now := stamp(o)
	o.Spec.HolderIdentity = &c.Holder
	o.Spec.LeaseTransitions = &token
	o.Spec.LeaseDurationSeconds = new(seconds(c.TTL))
	o.Spec.AcquireTime, o.Spec.RenewTime = now, now
	return o
}

func renewed(o *coordinationv1.Lease, ttl time.Duration) *coordinationv1.Lease {
	o = o.DeepCopy()
	o.Spec.LeaseDurationSeconds = new(seconds(ttl))
	o.Spec.RenewTime = stamp(o)
	return o
}

// released returns o as client-go's leader election leaves it: without a holder, and with so short
// a duration that a contender that ignores the missing holder does not wait.
func released(o *coordinationv1.Lease) *coordinationv1.Lease {
	o = o.DeepCopy()
	now := stamp(o)
	o.Spec.HolderIdentity = new("")
	o.Spec.LeaseDurationSeconds = new(int32(1))
	o.Spec.AcquireTime, o.Spec.RenewTime = now, now
	return o
}

// stamp returns the current time in microseconds, the precision of the API, and never the time in
// o: contenders would not notice a renewal that changes nothing.
func stamp(o *coordinationv1.Lease) *metav1.MicroTime {
	now := time.Now().Truncate(time.Microsecond)
	if last := o.Spec.RenewTime; last != nil && last.Time.Equal(now) {
		now = now.Add(time.Microsecond)
	}
	return &metav1.MicroTime{Time: now}
}

// carriedOut reports whether found is the result of writing wanted. No other write has the same
// holder, count and time.
func carriedOut(wanted, found *coordinationv1.Lease) bool {
	return found != nil &&
		(wanted.UID == "" || wanted.UID == found.UID) &&
		holder(wanted) == holder(found) &&
		transitions(wanted) == transitions(found) &&
		wanted.Spec.RenewTime.Equal(found.Spec.RenewTime)
}
