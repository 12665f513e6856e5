package cluster

// followMembers passes the members of each view to the endpoint, so that watchers and asks of
// actors learn when a node is gone.
func (n *Node) followMembers() {
	n.views.listen(func() {
		v := n.View()
		n.endpoint.Members(v.Self.ID(), livingPeers(v))
	})
}

// livingPeers returns the members that are not down, or nil if this node is not a member.
func livingPeers(v View) []ID {
	if v.Self.Status == 0 || v.Self.Status >= Down {
		return nil
	}
	var peers []ID
	for _, m := range v.Members {
		if m.Status < Down {
			peers = append(peers, m.ID())
		}
	}
	return peers
}
