package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheSwitchDropsWhatIsCutAShareOfWhatIsLostAndProtocols(t *testing.T) {
	var s Switchboard
	s.cut([]int{0}, []int{1, 2})
	s.lose([]int{1}, 5)
	s.drop([]int{2}, "udp")
	require.Equal(t, `table bridge nemesis
delete table bridge nemesis
table bridge nemesis {
	chain forward {
		type filter hook forward priority 0; policy accept;
		iifname "port1" oifname "port2" drop
		iifname "port1" oifname "port3" drop
		iifname "port2" numgen random mod 100 < 5 drop
		oifname "port2" numgen random mod 100 < 5 drop
		iifname "port3" ip protocol udp drop
		oifname "port3" ip protocol udp drop
	}
}
`, s.rules(3))
}
