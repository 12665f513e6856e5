package downing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/godoc"
)

func TestDefaultsAreAsDocumented(t *testing.T) {
	l := LeaseMajority{Lease: someLease{}}
	const suits = "0 is what suits the detector of the node (Config.Detector of package cluster), [DefaultStableAfter] with LAN."
	require.Empty(t, godoc.Check(".",
		godoc.Is("KeepMajority.StableAfter", suits, 3*time.Second, KeepMajority{}.Delay()),
		godoc.Is("StaticQuorum.StableAfter", suits, 3*time.Second, StaticQuorum{}.Delay()),
		godoc.Is("KeepOldest.StableAfter", suits, 3*time.Second, KeepOldest{}.Delay()),
		godoc.Is("KeepReferee.StableAfter", suits, 3*time.Second, KeepReferee{}.Delay()),
		godoc.Is("DownAll.StableAfter", suits, 3*time.Second, DownAll{}.Delay()),
		godoc.Is("LeaseMajority.Lease", "The default, nil, is the one that Config.Leases", nil, LeaseMajority{}.Lease),
		godoc.Is("LeaseMajority.StableAfter", suits, 3*time.Second, l.Delay()),
		godoc.Is("LeaseMajority.MinorityDelay", "0 is [DefaultMinorityDelay].", 2*time.Second, l.minorityDelay()),
		godoc.Is("LeaseMajority.LeaseTimeout", "0 is [DefaultLeaseTimeout].", 5*time.Second, l.timeout()),
		godoc.Is("LeaseMajority.ReleaseAfter", "0 is [DefaultReleaseAfter]", 40*time.Second, l.hold()),
		godoc.Is("KeepReferee.Quorum", "0 is 1.", KeepReferee{Quorum: 1}.String(), KeepReferee{}.String()),
	))
}
