package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

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
