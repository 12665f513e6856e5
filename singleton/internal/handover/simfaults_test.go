package handover

// apply causes a fault, and ends it in time.
func (s *sim) apply(f simFault) {
	n := s.nodes[f.node]
	if host := s.host(); f.host && host != nil {
		n = host
	}
	s.note(n, "--- %s", f.text(len(s.nodes)))
	switch f.kind {
	case simSplit:
		s.during(f, func(by int) {
			for i := range s.nodes {
				for j := range s.nodes {
					if f.side>>i&1 != f.side>>j&1 {
						s.cuts[i][j] += by
					}
				}
			}
		})
	case simIsolate, simDeafen, simMute:
		s.during(f, func(by int) { s.cut(n, f.kind, by) })
	case simPause:
		if n.runs && !n.paused {
			n.pause()
			proc := n.proc
			s.in(f.lasts, func() { n.resume(proc) })
		}
	case simCrash:
		s.crash(n, f)
	case simLeave:
		if s.plan.graceful && !s.spare(n) {
			return
		}
		n.back = f.lasts
		n.awake(n.leave)
	case simSlow:
		s.during(f, func(by int) { s.slow += by })
	case simOutage:
		s.during(f, func(by int) {
			for i := range s.nodes {
				s.noStore[i] += by
			}
		})
	case simUnstore:
		s.during(f, func(by int) { s.noStore[n.index] += by })
	case simStopAll:
		for _, n := range s.nodes {
			s.crash(n, f)
		}
	}
}

func (s *sim) during(f simFault, change func(by int)) {
	change(1)
	s.in(f.lasts, func() { change(-1) })
}

// cut cuts a node off from all others, and from the stores, or one way only.
func (s *sim) cut(n *simNode, kind simFaultKind, by int) {
	if kind == simIsolate {
		s.noStore[n.index] += by
	}
	for i := range s.nodes {
		if i == n.index {
			continue
		}
		if kind != simMute {
			s.cuts[i][n.index] += by
		}
		if kind != simDeafen {
			s.cuts[n.index][i] += by
		}
	}
}

func (s *sim) crash(n *simNode, f simFault) {
	if !n.runs {
		return
	}
	n.exit(simDied)
	s.in(f.lasts, n.boot)
}

// host returns where the latest instance runs.
func (s *sim) host() *simNode {
	var host *simNode
	for _, n := range s.nodes {
		if n.inst != nil && (host == nil || n.inst.order > host.inst.order) {
			host = n
		}
	}
	return host
}

// spare reports whether another node stays when n leaves.
func (s *sim) spare(n *simNode) bool {
	for _, o := range s.nodes {
		if o != n && o.runs && !o.leaving && o.self().status == simUp {
			return true
		}
	}
	return false
}
