package overload

import (
	"flag"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/page"
	"github.com/understudy-go/understudy/testkit"
)

var update = flag.Bool("update", false, "write the figures into docs/overload.md, and the plot beside it")

// The policy of the runtime answers most of what can be answered, and recovers at once. Those to
// which it is compared do not, or change the order of messages.
func TestPolicies(t *testing.T) {
	var all []outcome
	for _, p := range policies {
		for _, times := range []int{3, 10} {
			synctest.Test(t, func(t *testing.T) {
				o := run(testkit.NewSystem(t, testkit.WithoutEncoding()), p, times)
				t.Logf("%+v", o.summary())
				all = append(all, o)
			})
		}
	}
	for _, o := range all {
		s := o.summary()
		switch o.policy.name {
		case policies[0].name, policies[1].name:
			require.Less(t, s.share, 0.8)
		case policies[3].name:
			require.GreaterOrEqual(t, s.share, 0.8)
			require.Less(t, s.first, time.Second)
			require.Less(t, s.p99, 800*time.Millisecond)
		}
	}
	if *update {
		require.NoError(t, page.Replace("../../../docs/overload.md", "<!-- policies -->\n", table(all)))
		require.NoError(t, os.WriteFile("../../../docs/overload.svg", []byte(plot(all).SVG()), 0o644))
	}
}
