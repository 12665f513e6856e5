package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What govulncheck prints, shortened: a finding for each level on which something is found.
const said = `
{"config": {"protocol_version": "v1.0.0"}}
{"osv": {"id": "GO-2026-0001", "summary": "called"}}
{"finding": {"osv": "GO-2026-0001", "fixed_version": "v1.2.0", "trace": [{"module": "example.com/a", "version": "v1.1.0"}]}}
{"finding": {"osv": "GO-2026-0001", "fixed_version": "v1.2.0", "trace": [{"module": "example.com/a", "version": "v1.1.0", "package": "example.com/a/b"}]}}
{"finding": {"osv": "GO-2026-0001", "fixed_version": "v1.2.0", "trace": [{"module": "example.com/a", "version": "v1.1.0", "package": "example.com/a/b", "function": "Parse"}]}}
{"finding": {"osv": "GO-2026-0002", "trace": [{"module": "example.com/c", "version": "v0.3.0", "package": "example.com/c"}]}}
{"finding": {"osv": "GO-2026-0003", "fixed_version": "v1.26.9", "trace": [{"module": "stdlib", "version": "v1.26.8", "package": "net/http", "function": "Get"}]}}
{"finding": {"osv": "GO-2026-0004", "fixed_version": "v1.26.10", "trace": [{"module": "stdlib", "version": "v1.26.8", "package": "net/http"}]}}
`

func TestOnlyAVulnerabilityThatIsCalledInAModuleOfOthersIsAnError(t *testing.T) {
	found, err := findings(strings.NewReader(said))
	require.NoError(t, err)
	require.Len(t, found, 6)
	m := mustLoad(t, root)[0]

	called := report(m, found)
	require.Len(t, called, 1)
	require.EqualError(t, called[0], ".: example.com/a/b.Parse is called and vulnerable: "+
		"GO-2026-0001 in example.com/a@v1.1.0; v1.2.0 mends it; https://pkg.go.dev/vuln/GO-2026-0001")
	require.Contains(t, found[3].String(), "no version mends it")
	require.Empty(t, report(m, found[3:]))
	require.Contains(t, aboutGo(found[4:]), "Go 1.26.10 mends them: GO-2026-0003, GO-2026-0004")
}
