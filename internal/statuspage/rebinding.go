package statuspage

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
)

// A page of another site can let the name of that site lead to the loopback address, and then read
// this handler in the browser of somebody on this machine, as if it belonged to that site (DNS
// rebinding). The host of such a request is that name.
const misnamed = "this page is served on a loopback address, and the request names another host: " +
	"ask for it as localhost or with an IP address; a proxy in front of it has to set the header Host to one of these"

// rebound reports whether a request to a loopback address names a host that a stranger may have led
// there. Other addresses may have any name.
func rebound(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback() && !namesThisMachine(r.Host)
}

// Browsers always name a host.
func namesThisMachine(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return true
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // browsers look neither up
		return true
	}
	own, err := os.Hostname() // Debian gives it a loopback address
	return err == nil && strings.EqualFold(host, own)
}
