package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/config"
)

func TestAVariableThatIsSetButEmptyIsAnError(t *testing.T) {
	for _, value := range []string{"", "  "} {
		for _, name := range []string{"NAME", "NODE_ID", "BIND", "ADVERTISE", "MIN_MEMBERS", "DETECTOR", "DOWNING", "TLS_CERT", "TLS_KEY", "TLS_CA"} {
			t.Setenv("SHOP_"+name, value)
		}
		t.Setenv("SHOP_SEEDS", value)
		t.Setenv("SHOP_SECRET_FILE", value)
		_, err := config.FromEnv("SHOP_", cluster.Config{})
		require.ErrorContains(t, err, "config: SHOP_SEEDS is empty; unset the variable, or give it a value: "+
			"allowed is a list of host:port, such as n1.shop.internal:7355,n2.shop.internal:7355")
		require.ErrorContains(t, err, "config: SHOP_SECRET_FILE is empty; unset the variable, or give it a value: allowed is the path of a file")
		for _, name := range []string{"NAME", "NODE_ID", "BIND", "ADVERTISE", "MIN_MEMBERS", "DETECTOR", "DOWNING", "TLS_CERT", "TLS_KEY", "TLS_CA"} {
			require.ErrorContains(t, err, "config: SHOP_"+name+" is empty; ")
		}
	}
}

func TestAListHasNoEmptyElementAndNoneTwice(t *testing.T) {
	for value, want := range map[string]string{
		",":           `SHOP_SEEDS is ",", which has an empty element; allowed is a list of host:port`,
		"n1:1,":       `SHOP_SEEDS is "n1:1,", which has an empty element`,
		"n1:1, ,n2:1": `SHOP_SEEDS is "n1:1,,n2:1", which has an empty element`,
		"n1:1,n1:1":   `SHOP_SEEDS is "n1:1", which occurs twice; allowed is a list of host:port`,
	} {
		t.Setenv("SHOP_SEEDS", value)
		_, err := config.FromEnv("SHOP_", cluster.Config{})
		require.ErrorContains(t, err, want, value)
	}
	t.Setenv("SHOP_SEEDS", "n1:1")
	t.Setenv("SHOP_ROLES", "web,web")
	_, err := config.FromEnv("SHOP_", cluster.Config{})
	require.ErrorContains(t, err, `SHOP_ROLES is "web", which occurs twice`)
}

func TestAMisspeltVariableIsAnErrorThatNamesTheKey(t *testing.T) {
	t.Setenv("SHOP_BIND", "127.0.0.1:0")
	for name, meant := range map[string]string{
		"SHOP_SEED": "SHOP_SEEDS", "SHOP_SEEDSS": "SHOP_SEEDS", "SHOP_SEEDZ": "SHOP_SEEDS", "SHOP_SEDES": "SHOP_SEEDS", "SHOP_seeds": "SHOP_SEEDS",
		"SHOP_ROLE": "SHOP_ROLES", "SHOP_NODEID": "SHOP_NODE_ID", "SHOP_SECRETFILE": "SHOP_SECRET_FILE", "SHOP_SECRET": "SHOP_SECRET_FILE",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "n1:7355")
			_, err := config.FromEnv("SHOP_", cluster.Config{})
			require.EqualError(t, err, "config: "+name+" is not a key; did you mean "+meant+"?")
		})
	}
}

func TestVariablesThatPlatformsAndProgramsSetAreIgnored(t *testing.T) {
	t.Setenv("SHOP_BIND", "127.0.0.1:0")
	for name, value := range map[string]string{ // as Kubernetes does for the services shop, shop-seed and shop-seeds
		"SERVICE_HOST": "10.0.0.1", "SERVICE_PORT": "80", "SERVICE_PORT_HTTP": "80", "PORT": "tcp://10.0.0.1:80",
		"PORT_80_TCP": "tcp://10.0.0.1:80", "PORT_80_TCP_PROTO": "tcp", "PORT_80_TCP_PORT": "80", "PORT_80_TCP_ADDR": "10.0.0.1",
		"SEED_SERVICE_HOST": "10.0.0.2", "SEED_PORT": "tcp://10.0.0.2:80", "SEEDS_SERVICE_HOST": "10.0.0.3", "SEEDS_PORT": "tcp://10.0.0.3:80",
		"DATABASE_URL": "postgres://shop", "LOG_LEVEL": "info",
	} {
		t.Setenv("SHOP_"+name, value)
	}
	t.Setenv("OTHER_SEED", "n1:7355")
	cfg, err := config.FromEnv("SHOP_", cluster.Config{})
	require.NoError(t, err)
	require.Equal(t, cluster.Config{Bind: "127.0.0.1:0"}, cfg)
}

func TestMinSeedsBelongsToDiscovery(t *testing.T) {
	t.Setenv("SHOP_MIN_SEEDS", "2")
	_, err := config.FromEnv("SHOP_", cluster.Config{})
	require.EqualError(t, err, `config: SHOP_MIN_SEEDS is "2", but it belongs to discovery, and the program has set no Discovery; unset the variable, or set Discovery in the base`)
	cfg, err := config.FromEnv("SHOP_", cluster.Config{Discovery: discovers})
	require.NoError(t, err)
	require.Equal(t, 2, cfg.MinSeeds)
}

func TestEveryErrorNamesTheKeyItsValueAndWhatIsAllowed(t *testing.T) {
	var wants []string
	for name, of := range map[string]struct{ value, want string }{
		"NAME":        {"my shop", `SHOP_NAME is "my shop", which contains ' '; allowed is 1 to 255 letters, digits and -_.:~+`},
		"NODE_ID":     {"n\a1", `SHOP_NODE_ID is "n\a1", which has the control character U+0007; allowed is 1 to 255 bytes of UTF-8 without control characters`},
		"BIND":        {"everywhere", `SHOP_BIND is "everywhere", which is not a host:port; allowed is host:port, such as 0.0.0.0:7355`},
		"ADVERTISE":   {"0.0.0.0:1", `SHOP_ADVERTISE is "0.0.0.0:1", which has the host 0.0.0.0, which stands for all interfaces of a machine and leads to no other one; allowed is host:port, such as n1.`},
		"SEEDS":       {"n1:7355,n2,127.0.0.1:0", `SHOP_SEEDS is "127.0.0.1:0", which has the port 0, at which no node listens; allowed is a list`},
		"MIN_MEMBERS": {"-1", `SHOP_MIN_MEMBERS is "-1", which is not a count; allowed is a whole number, 0 or more`},
		"DETECTOR":    {"slow", `SHOP_DETECTOR is "slow", which is not a preset; allowed is lan, wan or local`},
		"SECRET_FILE": {"/nowhere", `SHOP_SECRET_FILE is "/nowhere", which cannot be read: open /nowhere:`},
	} {
		t.Setenv("SHOP_"+name, of.value)
		wants = append(wants, of.want)
	}
	wants = append(wants, `SHOP_SEEDS is "n2", which is not a host:port`)
	cfg, err := config.FromEnv("SHOP_", cluster.Config{Name: "shop"})
	for _, want := range wants {
		require.ErrorContains(t, err, want, "all at once")
	}
	require.Equal(t, cluster.Config{}, cfg)

	t.Setenv("SHOP_ADVERTISE", ":1")
	_, err = config.FromEnv("SHOP_", cluster.Config{})
	require.ErrorContains(t, err, `SHOP_ADVERTISE is ":1", which has no host; allowed is host:port`)
}

func TestAnErrorOfDowningSaysWhatTheStrategyLacks(t *testing.T) {
	for value, want := range map[string]string{
		"static-quorum":   "which has no SIZE; allowed is keep-majority, keep-oldest, down-all, manual, static-quorum=SIZE (more than half of the members) or keep-referee=NODE_ID",
		"static-quorum=":  "which has no SIZE; allowed is",
		"static-quorum=0": `which has the SIZE "0", which is not a number of 1 or more; allowed is`,
		"static-quorum=x": `which has the SIZE "x", which is not a number of 1 or more; allowed is`,
		"keep-referee":    "which has no NODE_ID; allowed is",
		"keep-referee=":   "which has no NODE_ID; allowed is",
		"keep-oldest=n1":  "which gives something to keep-oldest, which takes nothing; allowed is",
		"keep-minority":   "which is not a strategy; allowed is",
	} {
		t.Setenv("SHOP_DOWNING", value)
		_, err := config.FromEnv("SHOP_", cluster.Config{})
		require.ErrorContains(t, err, `config: SHOP_DOWNING is "`+value+`", `+want)
	}
}
