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

// NameAnnotation is where an object holds the name of its lease.
const NameAnnotation = "understudy-go.github.io/lease"

// hashed matches the names that ObjectName makes up. Leases that are called so get a
// hash, too: no two leases have the same object.
var hashed = regexp.MustCompile(`-[0-9a-f]{20}$`)

var unfit = regexp.MustCompile(`[^a-z0-9]+`)

// ObjectName returns the name of the object of the lease of that name: the same if it is a
// DNS subdomain name (RFC 1123), as Kubernetes wants it; else what is left of it in lower
// case, and a hash. So "GlobalCounter" is in "globalcounter-" and twenty hexadecimal
// digits.
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

// checkName returns an error when o is the object of another lease. One without the
// annotation was made by an administrator, or by client-go's leader election.
func checkName(o *coordinationv1.Lease, name string) error {
	if of, ok := o.Annotations[NameAnnotation]; ok && of != name {
		return fmt.Errorf("the object belongs to the lease %q, not to %q: use another name, or correct the annotation %s",
			of, name, NameAnnotation)
	}
	return nil
}
