// Package discovery finds the addresses of the nodes of a cluster while the program runs, through
// DNS or a registry of your own.
//
//	cluster.Config{
//		Bind:      ":7355",
//		Advertise: os.Getenv("POD_IP") + ":7355",
//		Discovery: discovery.Kubernetes{Service: "shop-nodes", Namespace: "shop", Port: 7355},
//	}
//
// A discovery is any type with a method Find. [DNS] and [SRV] look up records of those types, and
// [Kubernetes] those of a headless service. [Static] is a list, and [Func] makes a discovery of a
// function.
//
// # What Find returns
//
// Find returns addresses, each a host:port, sorted and without duplicates. A name that does not
// exist, or has no such records, is not an error, because that is the case before the first node
// starts. A DNS server that fails or does not answer is an error, because then it is not known
// which nodes exist. More than [MaxFound] addresses are an error too, because the name is probably
// wrong. Find returns when its context ends. It may be called by any goroutine.
//
// # Addresses must match
//
// Find should return exactly the addresses that the nodes advertise (Advertise of cluster.Config,
// or Bind). With A and AAAA records these are IP addresses. With SRV records whose targets are not
// resolved they are names. A node that is found under another address than its own notices that. A
// node that is not found at all founds no cluster. An address that no member advertises is tried
// again and again.
package discovery
