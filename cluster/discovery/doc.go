// Package discovery finds the nodes of a cluster where their addresses are not known when
// the program is configured: through DNS, and so through whatever writes DNS.
//
//	cluster.Config{
//		Bind:      ":7355",
//		Advertise: os.Getenv("POD_IP") + ":7355",
//		Discovery: discovery.Kubernetes{Service: "shop-nodes", Namespace: "shop", Port: 7355},
//	}
//
// A discovery is anything with a method Find: [DNS] and [SRV] ask for records of those
// types, [Kubernetes] for those of a headless service, [Static] is a list, and [Func]
// makes one of a function, for a registry that is not here.
//
// # What Find returns
//
// Find returns addresses, each a host:port, sorted and without duplicates. A name that
// does not exist, or has no such records, is no error: that is how it is before the first
// node has started. A server that fails or does not answer is one, as it says nothing
// about who is there. More than [MaxFound] addresses are an error as well: it is hardly
// the right name. Find returns when its context ends, and may be called by any goroutine.
//
// # Addresses must match
//
// What is found should be, to the letter, what the nodes advertise (cluster.Config's
// Advertise, or Bind): numbers, where A and AAAA records are asked for; names, where the
// targets of SRV records are taken as they are. A node that finds itself under another
// name than its own notices that, but one that does not find itself at all founds no
// cluster; and an address that no member advertises is tried again and again.
package discovery
