// Package etcdtest has the tests of package etcd that need a server. It is a module of its
// own: what the embedded server requires, some fifty modules, must not choose the versions
// of programs that only need the client.
package etcdtest
