package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

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

// NameAnnotation is the annotation of an object that contains the name of its lease.
const NameAnnotation = "understudy-go.github.io/lease"

// hashed matches the names that ObjectName generates. A lease with such a name gets a hash as well,
// so no two leases have the same object.
var hashed = regexp.MustCompile(`-[0-9a-f]{20}$`)

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// ObjectName returns the name of the object of a lease. It is the lease's name if that is a DNS
// subdomain name (RFC 1123), as Kubernetes requires. Otherwise it is the usable part of the name in
// lower case and a hash: "GlobalCounter" becomes "globalcounter-" and twenty hexadecimal digits.
func ObjectName(name string) string {
	if len(validation.IsDNS1123Subdomain(name)) == 0 && !hashed.MatchString(name) {
		return name
	}
	slug := unfit.ReplaceAllString(strings.ToLower(name), "-")
	slug = strings.Trim(slug[:min(len(slug), 200)], "-")
	if slug == "" {
		slug = "lease"
	}
	sum := sha256.Sum256([]byte(name))
	return slug + "-" + hex.EncodeToString(sum[:10])
}

// checkName returns an error if o is the object of another lease. An object without the annotation
// was created by an administrator or by client-go's leader election.
func checkName(o *coordinationv1.Lease, name string) error {
	if of, ok := o.Annotations[NameAnnotation]; ok && of != name {
		return fmt.Errorf("the object belongs to the lease %q, not to %q: use another name, or correct the annotation %s",
			of, name, NameAnnotation)
	}
	return nil
}
