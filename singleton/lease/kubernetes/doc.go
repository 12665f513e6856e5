// Package kubernetes keeps leases in Lease objects of a Kubernetes cluster
// (coordination.k8s.io/v1). It is a module of its own, so that only programs that use it
// depend on client-go.
//
//	store, err := kubernetes.InCluster()
//	…
//	l, err := lease.New(store, "GlobalCounter", os.Getenv("POD_NAME"), lease.Settings{})
//	…
//	singleton.WithLease(l)
//
// # What the account may do
//
// The service account of the pods needs three verbs, in the namespace of the objects:
//
//	kind: Role
//	apiVersion: rbac.authorization.k8s.io/v1
//	metadata: {name: leases, namespace: demo}
//	rules:
//	- apiGroups: [coordination.k8s.io]
//	  resources: [leases]
//	  verbs: [get, create, update]
//
// Nothing is ever patched, listed, watched or deleted. A refusal says which verbs are
// missing.
//
// # How it works
//
// Every write is a create, or an update that carries the resourceVersion that was read:
// the API server carries it out only if nobody has written since. Of two that want the
// same lease, one gets a 409 and reads again. Write and read again is also what happens
// when an answer is lost: what the object holds then says whether the request was carried
// out.
//
// Whether the lease of another has expired is judged as client-go's leader election
// judges it: by how long this process has seen the record unchanged, on its own monotonic
// clock, against the leaseDurationSeconds of the record. No two clocks are compared; the
// times in the record are for people. Therefore
//
//   - clocks that are hours apart do no harm; only their rates must agree, within the
//     Drift of [lease.Settings];
//   - a process that sees a lease for the first time waits its full duration, even if the
//     holder has been dead for long. A release is seen at once;
//   - a duration that is not positive counts as the contender's own, and one of more than
//     four times that as four times: an object that nobody can have meant does not block
//     a name for ever. So all that contend for a name should have the same TTL.
//
// The API knows whole seconds only: a TTL is rounded up for the others, never for the
// holder.
//
// # The token
//
// The token is leaseTransitions, raised by every acquisition, also by the same holder. A
// release empties the holder and keeps the object, and so the count. Whoever deletes the
// object lets the count begin anew; then only processes that have seen the old one, and
// the floor of [lease.Claim], keep tokens growing: do not delete Lease objects of names
// whose tokens fence something. The field has 31 bits: a token or a floor beyond is an
// error.
//
// client-go's leader election can contend for the same object. Both respect each other.
//
// # Names
//
// The object has the name of the lease where Kubernetes allows that, else a similar one
// with a hash: see [ObjectName]. The name itself is in the annotation [NameAnnotation],
// and an object that has another one is refused.
//
// # Testing
//
// Programs test with lease.NewMemory. This package is tested against a strict model of the
// API server, and with make test-kubernetes against a real one.
package kubernetes
