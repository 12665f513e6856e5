// Package config reads the settings that operators change from the environment or from a file, into
// a [cluster.Config] that the program has begun:
//
//	cfg, err := config.FromEnv("SHOP_", cluster.Config{Name: "shop", Logger: log})
//	…
//	node, err := cluster.Start(ctx, cfg)
//
// This package is experimental: a minor release may change it.
//
// Both sources have the same keys. In the environment a key is in capitals after the prefix:
// SHOP_NODE_ID is the key node_id. A file is YAML or JSON, with the keys at the top.
//
//	key          value                                      field of cluster.Config
//	name         the name of the cluster                    Name
//	node_id      the unique name of this node               NodeID
//	bind         host:port                                  Bind
//	advertise    host:port                                  Advertise
//	seeds        list of host:port                          Seeds
//	roles        list of roles                              Roles
//	min_seeds    0 or more                                  MinSeeds
//	min_members  0 or more                                  MinMembers
//	detector     lan, wan or local                          Detector
//	downing      keep-majority, keep-oldest, down-all,      Downing
//	             manual, static-quorum=SIZE or
//	             keep-referee=NODE_ID
//	tls_cert     PEM file of this node's certificate        TLS
//	tls_key      PEM file of its private key                TLS
//	tls_ca       PEM file of the authorities                TLS
//	secret_file  file of the secret, read without white     Secret
//	             space at its ends
//
// A list is separated by commas in the environment, and is a YAML or JSON list in a file. A key
// that is not set, or is empty, leaves the field of the base as it is. The three keys of TLS belong
// together. Certificate and private key are read again for each connection, so new ones need no
// restart; while the files cannot be read, the last pair is used.
//
// An error names the key, its value and what is allowed. All errors come at once, joined by
// [errors.Join]. Secrets are in files, so no error shows one.
package config
