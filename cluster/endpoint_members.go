package cluster

// followMembers tells the endpoint of each view who the members are, so that the watchers
// and asks of actors hear when a node is gone.
func (n *Node) followMembers() {
	n.views.listen(func() {
		v := n.View()
		n.endpoint.Members(v.Self.ID(), livingPeers(v))
	})
}

// livingPeers returns the members that have not been given up, or nil when this node is none.
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
