// Package etcd keeps the leases of singletons in etcd. It is a module of its own, so that
// only programs that use it depend on the client of etcd.
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: …, DialKeepAliveTime: 5 * time.Second, DialKeepAliveTimeout: 3 * time.Second})
//	…
//	store, err := etcd.New(client)
//	l, err := lease.New(store, "GlobalCounter", "node-1", lease.Settings{})
//
// # How a lease is kept
//
// A name has two keys. The first names the holder of the lease; it is attached to a lease of etcd,
// and is deleted when that ends. The second has the last token and stays forever. An acquisition
// writes both in one transaction, on the condition that neither has changed since it was read. The
// token is max(token, floor)+1.
//
// The leader of etcd measures time with a monotonic clock. When another member becomes the leader,
// every lease of etcd starts anew: a lease may end late by up to its TTL, but never early. TTLs
// are whole seconds and have a minimum, 2 s with etcd's default election timeout. The server
// grants at least the requested TTL, and the holder relies on the requested one only. A TTL of
// 1.5 s is 2 s for the others.
//
// A renewal is two requests, a keep-alive and a read. It returns [lease.ErrLost] when the key no
// longer belongs to the acquisition. An attempt to take a lease that another holder has is one
// read.
//
// # Requirements
//
// etcd 3.5 or newer: an older leader that is partitioned from the others may confirm a lease that
// has ended. An etcd that is restored from a snapshot has the tokens of that time, and grants the
// same tokens again. Deleting the key of a token does the same to one name.
//
// Give the client all endpoints, and set DialKeepAliveTime, as in the example. Otherwise it keeps
// asking a member whose machine has vanished.
//
// # Privileges
//
// With authentication, a role needs to read and write the keys below the prefix, and nothing else:
//
//	etcdctl role grant-permission app --prefix=true readwrite understudy/lease/
package etcd
