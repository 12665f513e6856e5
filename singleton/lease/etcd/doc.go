// Package etcd keeps leases in etcd.
//
//	client, err := clientv3.New(clientv3.Config{Endpoints: …, DialKeepAliveTime: 5 * time.Second, DialKeepAliveTimeout: 3 * time.Second})
//	…
//	store, err := etcd.New(client)
//	l, err := lease.New(store, "GlobalCounter", "node-1", lease.Settings{})
//
// # How a lease is kept
//
// A name has two keys. One says who holds the lease; it belongs to a lease of etcd, and
// goes away with it. The other has the last token and stays for ever. An acquisition
// writes both in one transaction, on the condition that neither has changed since they
// were read; the token is max(token, floor)+1.
//
// The leader of etcd counts the time, by a clock that is never set. When another member
// becomes the leader, it lets every lease begin anew: a lease may end late by as much, and
// never early. etcd counts in whole seconds and has a least time to live, 2 s with its
// default election timeout: it grants at least what is asked for, and the holder relies on
// what it has asked for only. So a TTL of 1.5 s is one of 2 s for the others.
//
// A renewal is two requests, a keep-alive and a read; it is [lease.ErrLost] when the key
// is not the one of the acquisition any more. An attempt to take what another holds is one
// read, which writes nothing.
//
// # What it needs of the servers
//
// etcd 3.5 or newer: older leaders that are cut off from the others may confirm a lease
// that has ended. An etcd that is restored from a snapshot has the tokens of that time:
// the same ones are granted again. Whoever deletes the key of the token does the same to
// one name.
//
// The client should have all endpoints, and DialKeepAliveTime set, as in the example: else
// it goes on asking a member whose machine has vanished without a word.
//
// # Privileges
//
// With authentication, a role needs to read and write the keys below the prefix, and no
// more:
//
//	etcdctl role grant-permission app --prefix=true readwrite understudy/lease/
package etcd
