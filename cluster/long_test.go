package cluster

import (
	"time"

	"github.com/understudy-go/understudy/internal/effort"
)

// long returns how long a test lets nodes run: d, or a twelfth of it unless make long runs it. The
// scenarios of package clustertest run as long in make verify.
func long(d time.Duration) time.Duration { return effort.Of(d/12, d/12, d) }
