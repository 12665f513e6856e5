GO       ?= go
TOOL     := $(GO) tool -modfile=internal/tools/go.mod

# make test runs these packages with the race detector, and the next ones without, except
# internal/lab. Test files with the build tag !quick are left to make verify: their message types
# take the compiler minutes.
RACE     := ./actor ./internal/extension ./actor/telemetry ./behavior ./persistence ./remote ./internal/transport/... ./singleton ./testkit ./testkit/eventsourced ./internal/memnet
PLAIN    := ./singleton/internal/... ./singleton/lease ./singleton/lease/leasetest ./persistence/codec ./persistence/internal/... ./persistence/journal ./persistence/journaltest ./persistence/rehearsal ./persistence/sqlite ./testkit/workflowtest ./cluster/config ./cluster/cron/... ./cluster/downing ./cluster/internal/home ./cluster/internal/membership ./cluster/internal/phi ./cluster/placement/... ./cluster/sharding/... ./testkit/clustertest ./examples/failover ./examples/hello ./internal/...

# make verify runs these with the race detector, and then all that no line has. Machines that have
# one goroutine, such as those in internal folders, run without. Nothing with the detector may link
# SQLite, which takes a minute to compile with it: such a test file has the build tag !race. Only
# make long and make race test ./persistence/sqlite with it.
LATER    := ./actor/delivery ./actor/receptionist ./actor/router ./actor/topic ./singleton/lease ./persistence/projection ./persistence/workflow ./persistence/workflow/outside ./cluster ./cluster/cron ./cluster/placement ./cluster/sharding ./internal/batch ./internal/codec ./internal/fifo ./internal/guard ./internal/node ./internal/process ./internal/services ./internal/statuspage ./internal/window

# make verify tests these without the detector as a whole, because another line has only parts of
# them; of those that LATER has, what the detector leaves out.
WHOLE    := ./actor/delivery ./cluster ./persistence/projection ./persistence/workflow ./persistence/workflow/outside ./testkit/clustertest

# Modules of their own: programs that use the root module never download what these depend on.
# internal/lab/peerbench is not among them: it depends on other people's runtimes and prints
# figures. make check vets it and tries each scenario for a moment.
MODULES  := internal/lab/formats internal/lab/guide internal/lab/jetstreamtest internal/lab/nemesis internal/lab/postgres internal/lab/release $(patsubst %/go.mod,%,$(wildcard actor/codec/*/go.mod actor/telemetry/*/go.mod cmd/*/go.mod cmd/*/*/go.mod examples/*/go.mod singleton/lease/*/go.mod singleton/lease/*/*/go.mod persistence/*/go.mod persistence/*/*/go.mod))
# Modules that make verify tests without the race detector, like the nemesis, which it runs alone.
# make race tests all of MODULES with it.
UNRACED  := actor/codec/protobuf actor/telemetry/otel actor/telemetry/prometheus cmd/understudy cmd/understudy/understudytest examples/killtheleader examples/template internal/lab/formats internal/lab/guide singleton/lease/etcd singleton/lease/kubernetes internal/lab/jetstreamtest persistence/postgres internal/lab/postgres

FUZZTIME ?= 30s
TIME     ?= 10m
N        ?= 1000
SEED     ?= 0
VULNDB   ?= latest
# So that a new entry of the database does not stop CI. It is raised with the dependencies.
verify: VULNDB = v0.0.0-20261105234957-e22db6528018
KUBEAPI  ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/understudy
simulate: NODES ?= 0
nemesis:  NODES ?= 5

.DEFAULT_GOAL := help

.PHONY: help
help: ## Print this list
	@awk -F ':.*## ' '/^##@ / { print "\n" substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ What a change must pass

# Tests have small heaps, which are collected all the time unless they have more room.
test verify: export GOGC ?= 800
test verify: export GOMEMLIMIT ?= 3GiB
# The compiler spends a sixth of its time on debug information, the linker a fifth; no test reads it.
test verify: export GOFLAGS := $(shell $(GO) env GOFLAGS) -gcflags=all=-dwarf=false -ldflags=-w

# $(call gotest,MODE) runs internal/tools/gotest and prints a summary as the last line. go tool would
# ignore the flags above, and compile the standard library once more.
define gotest
	@events=$$(mktemp) && trap 'rm -f "$$events"' EXIT && \
	UNDERSTUDY_EFFORT=$(1) RACE="$(RACE)" PLAIN="$(PLAIN)" LATER="$(LATER)" WHOLE="$(WHOLE)" MODULES="$(MODULES)" UNRACED="$(UNRACED)" $(GO) run -modfile=internal/tools/go.mod gotest.tools/gotestsum --format=pkgname --jsonfile="$$events" \
		--post-run-command=internal/tools/summary --raw-command -- internal/tools/gotest $(1) -vet=off -timeout=20m
endef

.PHONY: test
test: ## Does it work here? The packages that all others stand on, whole clusters in virtual time, kill -9: minutes
	$(call gotest,test)

.PHONY: verify
verify: api-check vuln ## Run what CI runs beside make test: the other packages and modules with their servers, longer simulations, real processes under faults
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	$(call gotest,verify)

.PHONY: check
check: fmt-check tidy-check vet api-check lint lint-modules check-peers ## Check everything that needs no test to run

.PHONY: fmt
fmt: ## Format every file
	$(TOOL) golangci-lint fmt

.PHONY: fmt-check
fmt-check: ## Fail on files that are not formatted
	$(TOOL) golangci-lint fmt --diff

.PHONY: tidy-check
tidy-check: ## Fail when a go.mod or go.sum is not tidy
	@for module in . internal/tools $(MODULES); do $(GO) -C $$module mod tidy -diff || exit; done

.PHONY: vet
vet: ## Run go vet
	@for module in . $(MODULES); do $(GO) -C $$module vet ./... || exit; done

.PHONY: api-check
api-check: ## List incompatible changes since the last release; fail on those that CHANGELOG.md does not mention
	internal/tools/api-check

.PHONY: lint
lint: ## Run the linters of .golangci.yml on the root module
	$(TOOL) golangci-lint run ./...

.PHONY: lint-modules
lint-modules: ## Run them on the other modules, with all that these depend on: minutes the first time
	@for module in $(MODULES); do \
		(cd $$module && $(GO) tool -modfile=$(CURDIR)/internal/tools/go.mod golangci-lint run --config=$(CURDIR)/.golangci.yml ./...) || exit; \
	done

.PHONY: prose
prose: ## List the comments, texts and pages that do not read well
	$(GO) test -count=1 ./internal/prose -run Repository -v -findings

.PHONY: packages
packages: ## Print what each package does
	@$(GO) list -f '{{.ImportPath}}: {{.Doc}}' ./...

.PHONY: check-peers
check-peers: ## Check the program of bench-peers, and run each scenario for a moment
	cd internal/lab/peerbench && $(GO) mod tidy -diff && $(GO) vet ./... && $(GO) test ./... && \
		$(GO) tool -modfile=$(CURDIR)/internal/tools/go.mod golangci-lint run --config=$(CURDIR)/.golangci.yml ./...

.PHONY: try-release
try-release: ## Get every published module from outside of the repository, and build and run a program with it
	$(GO) -C internal/lab/release run .

.PHONY: vuln
vuln: ## Fail on known vulnerabilities that our code calls; the newest database comes from the module proxy
	$(GO) -C internal/lab/release run . -vuln $(VULNDB)

##@ A release

.PHONY: sbom
sbom: ## Write into the folder DIR what the command and the template are made of, as CycloneDX
	$(if $(DIR),,$(error say where to write: make sbom DIR=/tmp/sbom))
	$(GO) -C internal/lab/release run . -sbom="$(abspath $(DIR))"

.PHONY: dist
dist: ## At a tagged commit, write into the new folder DIR what a release offers for download; KEY is the SSH key that signs it: ten minutes
	$(if $(DIR),,$(error say where to write: make dist DIR=/tmp/dist))
	$(GO) -C internal/lab/release run . -dist="$(abspath $(DIR))" $(if $(KEY),-key="$(abspath $(KEY))")

##@ More tests

.PHONY: long
long: export UNDERSTUDY_EFFORT = long
long: ## Run the simulations of hours and of many nodes that make verify leaves out
	$(GO) test -timeout=60m ./cluster
	$(GO) test -timeout=60m ./cluster/internal/membership ./testkit/clustertest
	$(GO) test -timeout=60m -run="$$($(GO) run ./internal/lab/laws names long)" $$($(GO) run ./internal/lab/laws packages long | grep -vxF -e ./cluster -e ./cluster/internal/membership -e ./testkit/clustertest)
	$(GO) test -race -timeout=15m ./cluster/placement ./cluster/sharding -run Chaos -chaos.seed=2
	$(GO) test -race -timeout=15m ./persistence/sqlite

race stress cover: export UNDERSTUDY_EFFORT = verify

.PHONY: race
race: ## Run every test once with the race detector, from scratch, except those that it would take too long
	$(GO) test -race -count=1 -timeout=60m ./...
	@for m in $(MODULES); do $(GO) -C $$m test -race -count=1 -timeout=60m ./... || exit; done

.PHONY: stress
stress: ## Run the tests of what is concurrent 50 times with the race detector
	$(GO) test -race -count=50 -timeout=60m ./actor ./singleton ./cluster ./internal/transport

.PHONY: simulate
simulate: export UNDERSTUDY_EFFORT = $(N)
simulate: ## Run N (1000) random histories of each pure machine, of the singleton in each protection mode; SEED (0) is the first, NODES (various) how many
	$(GO) test -timeout=24h ./cluster/internal/membership -run 'RandomHist|Merge' -seed=$(SEED) -nodes=$(NODES)
	$(GO) test -timeout=24h ./singleton/internal/handover -run Simulated -v -sim.first=$(SEED) -sim.nodes=$(NODES)
	$(GO) test -timeout=24h ./cluster/placement -run Simulated -v -sim.first=$(SEED)
	$(GO) test -timeout=24h ./cluster/sharding/internal/allot -run Simulated -v -sim.first=$(SEED)

.PHONY: nemesis
nemesis: ## Torment NODES (5) real nodes for TIME (10m); SEED replays a schedule; OTHER is another version; needs root
	$(GO) -C internal/lab/nemesis run . -time=$(TIME) -nodes=$(NODES) -seed=$(SEED) -other="$(OTHER)"

.PHONY: effects
effects: export GOGC ?= 400
effects: ## Make N (1000) effects outside of a cluster under faults, and prove that each was made once; SEED plans the faults, JOURNAL is a postgres:// URL
	$(GO) -C internal/lab/postgres run ./effects -effects=$(N) -seed=$(SEED) -journal="$(JOURNAL)"

.PHONY: test-kubernetes
test-kubernetes: ## Test the Kubernetes lease and the manifests of the guide against a real API server; to build that takes minutes, the first time
	@mkdir -p "$(KUBEAPI)"
	nice -n 19 $(GO) build -C internal/lab/kubeapi -o "$(KUBEAPI)/kubeapi" .
	nice -n 19 $(GO) build -C internal/lab/kubeapi -o "$(KUBEAPI)/kubectl" k8s.io/kubernetes/cmd/kubectl
	UNDERSTUDY_KUBEAPI="$(KUBEAPI)/kubeapi" $(GO) test -C singleton/lease/kubernetes -count=1 -timeout=15m -parallel=8 -tags=kubeapi -run TestKubernetes -v .

.PHONY: test-arm64
test-arm64: ## Test on an emulated arm64 processor: needs Debian's qemu-user-binfmt and binfmt-support, and takes half an hour
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -tags=quick -timeout=30m ./actor ./remote ./internal/transport ./persistence/sqlite ./singleton

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (30s)
	@grep -Ero '^func Fuzz\w+' --include='*_test.go' . | while IFS=: read -r file func; do \
		$(GO) test -run='^$$' -fuzz="^$${func#func }$$" -fuzztime=$(FUZZTIME) "$${file%/*}" </dev/null || exit; \
	done

.PHONY: mutate
mutate: ## Make some sixty mistakes, one at a time, and list those that no test finds; RUN=delivery says which, half an hour for all
	$(GO) run ./internal/lab/mutate $(if $(RUN),-run='$(RUN)')

.PHONY: bench
bench: ## Run every benchmark, and compare the costs of counters and traces with their limits
	$(GO) test ./internal/lab/costs -count=1 -gates
	$(GO) test -run='^$$' -bench=. -benchmem ./...

.PHONY: bench-singleton
bench-singleton: bench-failover ## What a singleton costs beside a plain actor, how long it is away when it moves
	$(GO) run ./internal/lab/stopwatch -kills=0 -moves=50 -crowds=10
	$(GO) test ./singleton -run='^$$' -bench='Local|Remote' -benchtime=200000x -count=5

.PHONY: bench-many
bench-many: ## How long 10 000 singletons take to answer, and to fail over
	$(GO) run ./internal/lab/stopwatch -many 10000 -fenced
	$(GO) run ./internal/lab/stopwatch -many 10000

.PHONY: bench-failover
bench-failover: ## How long a singleton is away when its host is killed, 50 times
	$(GO) run ./internal/lab/stopwatch -kills=50 -moves=0 -crowds=0

.PHONY: bench-workflow
bench-workflow: ## Steps per second of workflows, how long three steps take, and the memory of sleepers, on SQLite and PostgreSQL
	$(GO) test ./internal/lab/workflowbench -run='^$$' -bench=. -benchtime=1x
	$(GO) test -C persistence/postgres -run='^$$' -bench=Workflows -benchtime=1x

.PHONY: bench-sleepers
bench-sleepers: ## RUNS (1000000) runs of a workflow that sleep on three processes and wake at once; five kills; JOURNAL is a PostgreSQL URL
	$(GO) -C internal/lab/postgres run ./sleepers -kills=5 -runs=$(or $(RUNS),1000000) -journal="$(JOURNAL)"

.PHONY: bench-sharding
bench-sharding: ## Replace the figures of docs/performance.md, a million ENTITIES and one of three processes killed: five minutes, 2 GB
	$(GO) run ./internal/lab/entities -page=docs/performance.md $(if $(ENTITIES),-entities=$(ENTITIES)) $(BENCH)

.PHONY: compile-cost
compile-cost: ## What a type costs the compiler and the binary, beside hollywood and protoactor: two minutes
	$(GO) run ./internal/lab/compiletime -peers

.PHONY: bench-peers
bench-peers: ## The same scenarios on other actor libraries: tables in Markdown; QUICK=1 is minutes, BENCH="-scenarios=remote -rounds=8" says which
	cd internal/lab/peerbench && $(GO) run . $(if $(QUICK),-quick) $(BENCH)

.PHONY: bench-page
bench-page: ## Replace the tables of docs/performance.md: 14 minutes on a machine that does nothing else; BENCH="-goakt=DIR -ergo=DIR" adds peers
	cd internal/lab/peerbench && $(GO) run . -rounds=3 -scale=0.2 -timeout=25s -page=$(CURDIR)/docs/performance.md $(BENCH)

.PHONY: hello-size
hello-size: ## How large hello world is, and how many modules come with it
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(GO) build -trimpath -ldflags="-s -w" -o "$$dir/hello" ./examples/hello && \
	wc -c <"$$dir/hello" | awk '{ printf "hello: %.1f MB\n", $$1 / 1e6 }'
	@for p in ./examples/hello ./cluster; do \
		$(GO) list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}' $$p | sort -u | wc -l | \
		awk -v p=$$p '{ print p ": " $$1 " modules beside ours" }'; \
	done

.PHONY: cover
cover: ## Measure what the tests reach, into cover.out
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -n 1

##@ Programs

.PHONY: examples
examples: ## Run every example and compare what it prints
	$(GO) test -count=1 ./examples/...

.PHONY: failover
failover: ## Watch a cluster lose the host of its singleton
	$(GO) run ./examples/failover

##@ The site

SITE     := docs/.vitepress

# npm notes here what it has installed.
$(SITE)/node_modules/.package-lock.json: $(SITE)/package-lock.json
	@command -v npm >/dev/null || { echo 'The site needs npm (Debian: nodejs npm).'; exit 1; }
	npm --prefix $(SITE) ci --no-audit --no-fund
	@touch $@

.PHONY: site
site: $(SITE)/node_modules/.package-lock.json ## Build the pages as a site into docs/.vitepress/dist: a minute; needs npm
	npm --prefix $(SITE) run build

.PHONY: site-serve
site-serve: $(SITE)/node_modules/.package-lock.json ## Show the site while you edit its pages
	npm --prefix $(SITE) run serve

.PHONY: site-check
site-check: site ## Build the site and test it in a browser: links, search, titles, narrow windows, contrast
	$(GO) test -vet=off -count=1 ./internal/site -site=$(CURDIR)/$(SITE)/dist
