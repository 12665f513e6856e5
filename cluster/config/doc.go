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
//	min_seeds    0 or more, only with Discovery             MinSeeds
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
// A list is separated by commas in the environment, and is a YAML or JSON list in a file. An
// element that is empty or occurs twice is an error, because it is probably a mistake.
//
// A field keeps the value of the base when its key is not set. A key that is set but empty is an
// error: an empty list of seeds would make each node a cluster of its own, and an empty secret_file
// would leave the cluster without authentication. Only roles may be empty: the node then has no
// role. A misspelt key is an error as well, see [FromEnv] and [FromFile].
//
// A relative path in a file is relative to the folder of that file. A relative path in the
// environment is relative to the working directory.
//
// The three keys of TLS belong together, and a node has either TLS or a secret. Certificate and
// private key are read again for each connection, so new ones need no restart; while the files
// cannot be read, the last pair is used.
//
// Fields without a key, such as Logger and Journal, come from the base. There is no key for a
// duration: an operator chooses a preset of the detector, and the program sets any other time in
// Go. Discovery has no key either. Set it in the base before the call: min_seeds is an error
// without it, and seeds are joined in addition to the nodes that Discovery finds.
//
// An error names the key, its value and what is allowed. All errors come at once, joined by
// [errors.Join]. Secrets are in files, so no error shows one.
package config
