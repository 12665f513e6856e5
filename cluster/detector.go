package cluster

import (
	"time"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// A Detector configures how quickly a silent member becomes unreachable. The zero value is [LAN];
// each field that is zero takes its value from there. [Start] returns an error when a field is out
// of its range.
type Detector struct {
	// Interval is the time between two heartbeats to an observer. Default: 100 ms.
	Interval time.Duration

	// CheckEvery is the time between two checks of the members' heartbeats. It must not exceed
	// Interval, because heartbeats are sent at a check. Default: 50 ms.
	CheckEvery time.Duration

	// Threshold is the phi, of the phi accrual failure detector, at which a member becomes
	// unreachable. It must be positive. A higher value detects failures later and suspects fewer
	// living members. Default: 8.
	Threshold float64

	// Pause is the silence that is accepted on top of the usual interval. It is most of the
	// detection time, and must be at least two Intervals. Default: 600 ms.
	Pause time.Duration

	// MinStdDev is the least standard deviation of the intervals that the detector assumes.
	// Default: 20 ms.
	MinStdDev time.Duration

	// Samples is the number of intervals that the detector remembers per member, at least 2.
	// Default: 1000.
	Samples int

	// ExpectAfter is how long after it is first observed a member must have sent a heartbeat.
	// It must be at least two Intervals. Default: 1 s.
	ExpectAfter time.Duration

	// KeepRefused keeps a member reachable when its address refuses connections, until its
	// heartbeats are missed. Set it where a proxy may refuse connections for a member that
	// lives. By default such a member is unreachable at once, because its host says that no
	// process listens.
	KeepRefused bool

	// StreamDead is how long the TCP connection may be silent while datagrams still arrive.
	// After that the member is unreachable, because no message can reach it. It must exceed
	// the silence that follows from Interval, Pause, Threshold and MinStdDev. Default: 5 s.
	StreamDead time.Duration
}

// LAN suits local networks: a killed node is unreachable after about 0.8 seconds.
func LAN() Detector { return Detector(membership.LAN()) }

// WAN suits long or lossy lines and noisy neighbours: a killed node is unreachable after about
// four seconds.
func WAN() Detector { return Detector(membership.WAN()) }

// Local suits nodes on one machine, as in tests: a killed node is unreachable after about 0.6
// seconds. On a network it would suspect members more often than LAN does.
func Local() Detector { return Detector(membership.Local()) }
