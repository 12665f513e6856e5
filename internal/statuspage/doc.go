// Package statuspage serves the status of a cluster as one node sees it: a small web page that
// works offline, the same data as JSON and as a stream of events, and health checks for
// orchestrators. Its only input is a [Snapshot]; it does not depend on package cluster.
package statuspage
