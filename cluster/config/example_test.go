package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/config"
)

// The program says what it is, and the operator where it runs.
func ExampleFromEnv() {
	_ = os.Setenv("SHOP_ADVERTISE", "n1.shop.internal:7355")
	_ = os.Setenv("SHOP_SEEDS", "n1.shop.internal:7355,n2.shop.internal:7355")
	defer func() { _, _ = os.Unsetenv("SHOP_ADVERTISE"), os.Unsetenv("SHOP_SEEDS") }()

	cfg, err := config.FromEnv("SHOP_", cluster.Config{Name: "shop", Bind: "0.0.0.0:7355"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cfg.Name, cfg.Bind, cfg.Advertise, cfg.Seeds)
	// Output: shop 0.0.0.0:7355 n1.shop.internal:7355 [n1.shop.internal:7355 n2.shop.internal:7355]
}

// A misspelt key and a value that is not allowed are reported together.
func ExampleFromFile() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "shop.yaml")
	write := func(text string) { _ = os.WriteFile(path, []byte(text), 0o600) }

	write("bind: 0.0.0.0:7355\nroles: [web]\ndetector: lan\n")
	cfg, err := config.FromFile(path, cluster.Config{Name: "shop"})
	fmt.Println(cfg.Name, cfg.Bind, cfg.Roles, err)

	write("role: [web]\ndetector: slow\n")
	_, err = config.FromFile(path, cluster.Config{Name: "shop"})
	fmt.Println(strings.ReplaceAll(err.Error(), path, "shop.yaml"))
	// Output:
	// shop 0.0.0.0:7355 [web] <nil>
	// config: shop.yaml:1: there is no key "role"; did you mean roles?
	// config: shop.yaml:2: detector is "slow", which is not a preset; allowed is lan, wan or local
}
