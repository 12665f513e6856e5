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
// # Privileges
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
// The store never patches, lists, watches or deletes. The error of a refused request names the
// missing verbs.
//
// # How a lease is kept
//
// Every write is a create, or an update with the resourceVersion that was read, so the API server
// carries it out only if the object has not changed since. If two contenders write at once, one
// gets a 409 and reads again. The store also reads again when an answer is lost: the object then
// shows whether the request was carried out.
//
// As in client-go's leader election, the lease of another holder has expired when this process has
// seen the record unchanged for its leaseDurationSeconds, by its own monotonic clock. No two
// clocks are compared, and the times in the record are for people. Therefore
//
//   - clocks may be hours apart; only their rates must agree, within the Drift of
//     [lease.Settings];
//   - a process that sees a lease for the first time waits its full duration, even if the holder
//     died long ago. A release is seen at once;
//   - a duration that is not positive counts as the contender's own, and a longer one counts as at
//     most four times the contender's own, so that a mistaken record does not block a name for
//     ever. All contenders for a name should therefore have the same TTL.
//
// The API has whole seconds only: a TTL is rounded up for the others, and never for the holder.
//
// # The token
//
// The token is leaseTransitions, which every acquisition increments, also by the same holder. A
// release empties the holder and keeps the object, and so the count. If the object is deleted, the
// count starts again. Then only processes that have seen the old count, and the floor of
// [lease.Claim], keep tokens increasing: do not delete Lease objects of names whose tokens fence
// something. The field has 31 bits: a greater token or floor is an error.
//
// client-go's leader election can contend for the same object. Each respects the other.
//
// # Names
//
// The object has the name of the lease if Kubernetes allows it, otherwise a similar one with a
// hash; see [ObjectName]. The annotation [NameAnnotation] contains the lease's name, and an object
// with another one is refused.
//
// # Testing
//
// Programs test with lease.NewMemory. This package is tested against a strict model of the API
// server, and against a real one with make test-kubernetes.
package kubernetes
