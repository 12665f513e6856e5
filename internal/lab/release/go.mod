// The program that tries a release before it is tagged. It is a module of its own, because it
// makes the archives of a module proxy, and bills of materials, with modules that no user needs.
module github.com/understudy-go/understudy/internal/lab/release

go 1.26.0

require (
	github.com/CycloneDX/cyclonedx-go v0.9.3
	github.com/google/licensecheck v0.3.1
	github.com/stretchr/testify v1.12.1
	github.com/xeipuuv/gojsonschema v1.2.0
	golang.org/x/mod v0.43.0
)

require (
	github.com/xeipuuv/gojsonpointer v0.0.0-20180127040702-4e3ac2762d5f // indirect
	github.com/xeipuuv/gojsonreference v0.0.0-20180127040603-bd5ef7bd5415 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
)
