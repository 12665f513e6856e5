module github.com/understudy-go/understudy/persistence/jetstream

go 1.26.0

require (
	github.com/nats-io/nats.go v1.55.0
	github.com/stretchr/testify v1.12.1
	github.com/understudy-go/understudy v0.1.0
)

require (
	github.com/fxamacker/cbor/v2 v2.9.6 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/nats-io/nkeys v0.4.17 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/understudy-go/understudy => ../..
