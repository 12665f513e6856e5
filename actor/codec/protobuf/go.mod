module github.com/understudy-go/understudy/actor/codec/protobuf

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	github.com/understudy-go/understudy v0.1.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/fxamacker/cbor/v2 v2.9.6 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.28.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
)

replace github.com/understudy-go/understudy => ../../..
