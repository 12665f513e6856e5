// Package statuspage shows people and probes how a cluster looks from one node: a small
// web page that works offline, its data as JSON and as a stream of events, and the health
// endpoints that orchestrators ask. It knows nothing of clusters but their [Snapshot].
package statuspage
