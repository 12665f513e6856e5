package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/config"
	"github.com/understudy-go/understudy/cluster/downing"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const file = `
name: shop
node_id: n1
bind: 0.0.0.0:7355
advertise: n1.shop.internal:7355
seeds:
  - n1.shop.internal:7355
  - n2.shop.internal:7355
roles: [web, worker]
min_seeds: 3
min_members: 2
detector: wan
downing: static-quorum=2
`

func settings() cluster.Config {
	return cluster.Config{
		Name: "shop", NodeID: "n1", Bind: "0.0.0.0:7355", Advertise: "n1.shop.internal:7355",
		Seeds: []string{"n1.shop.internal:7355", "n2.shop.internal:7355"}, Roles: []string{"web", "worker"},
		Discovery: discovers, MinSeeds: 3, MinMembers: 2, Detector: cluster.WAN(), Downing: downing.StaticQuorum{Size: 2},
	}
}

// discovers is a program's discovery. A pointer can be compared.
var discovers = &cluster.DNS{Host: "shop.internal", Port: 7355}

func TestTheEnvironmentAndAFileSayTheSame(t *testing.T) {
	for name, value := range map[string]string{
		"NAME": "shop", "NODE_ID": "n1", "BIND": "0.0.0.0:7355", "ADVERTISE": "n1.shop.internal:7355",
		"SEEDS": "n1.shop.internal:7355, n2.shop.internal:7355", "ROLES": "web,worker",
		"MIN_SEEDS": "3", "MIN_MEMBERS": "2", "DETECTOR": "wan", "DOWNING": "static-quorum=2",
	} {
		t.Setenv("SHOP_"+name, value)
	}
	base := cluster.Config{Discovery: discovers}
	cfg, err := config.FromEnv("SHOP_", base)
	require.NoError(t, err)
	require.Equal(t, settings(), cfg)
	cfg, err = config.FromFile(write(t, "shop.yaml", file), base)
	require.NoError(t, err)
	require.Equal(t, settings(), cfg)
	cfg, err = config.FromFile(write(t, "shop.json", `{"name": "shop", "roles": ["web"], "min_seeds": 3}`), base)
	require.NoError(t, err)
	require.Equal(t, cluster.Config{Name: "shop", Roles: []string{"web"}, Discovery: discovers, MinSeeds: 3}, cfg)
}

func TestAKeyThatIsNotSetLeavesItsFieldAsItIs(t *testing.T) {
	base := cluster.Config{Name: "shop", Roles: []string{"web"}, MinMembers: 2, Downing: downing.KeepOldest{KeepAlone: true}}
	t.Setenv("SHOP_BIND", "127.0.0.1:1")
	want := base
	want.Bind = "127.0.0.1:1"
	cfg, err := config.FromEnv("SHOP_", base)
	require.NoError(t, err)
	require.Equal(t, want, cfg)
	cfg, err = config.FromFile(write(t, "shop.yaml", "bind: 127.0.0.1:1"), base)
	require.NoError(t, err)
	require.Equal(t, want, cfg)
}

func TestAnEmptyListOfRolesMeansNoRole(t *testing.T) {
	base := cluster.Config{Name: "shop", Roles: []string{"web"}}
	t.Setenv("SHOP_ROLES", "")
	cfg, err := config.FromEnv("SHOP_", base)
	require.NoError(t, err)
	require.Equal(t, cluster.Config{Name: "shop"}, cfg)
	for _, text := range []string{"roles: []", "roles:"} {
		cfg, err = config.FromFile(write(t, "shop.yaml", text), base)
		require.NoError(t, err)
		require.Equal(t, cluster.Config{Name: "shop"}, cfg, text)
	}
}

func TestASecretIsReadFromAFileAndNeverShown(t *testing.T) {
	t.Setenv("SHOP_SECRET_FILE", write(t, "secret", "0123456789abcdef\n"))
	cfg, err := config.FromEnv("SHOP_", cluster.Config{})
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", string(cfg.Secret))

	path := write(t, "secret", "0123456789abcdef\n")
	cfg, err = config.FromFile(write(t, "shop.yaml", "secret_file: "+path), cluster.Config{})
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", string(cfg.Secret))

	t.Setenv("SHOP_SECRET_FILE", write(t, "secret", "password\n"))
	_, err = config.FromEnv("SHOP_", cluster.Config{})
	require.ErrorContains(t, err, "which has 8 bytes; allowed is the path of a file with at least 16 random bytes")
	require.NotContains(t, err.Error(), "password")
}

func TestARelativePathInAFileIsRelativeToTheFolderOfTheFile(t *testing.T) {
	path := write(t, "shop.yaml", "secret_file: keys/secret")
	folder := filepath.Join(filepath.Dir(path), "keys")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "secret"), []byte("0123456789abcdef"), 0o600))
	t.Chdir(t.TempDir())
	cfg, err := config.FromFile(path, cluster.Config{})
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", string(cfg.Secret))

	t.Setenv("SHOP_SECRET_FILE", "keys/secret")
	_, err = config.FromEnv("SHOP_", cluster.Config{})
	require.ErrorIs(t, err, os.ErrNotExist, "a path in the environment is relative to the working directory")
}
