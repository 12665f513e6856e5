//go:build kubeapi

package kubernetes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/walkthrough"
)

// A real server accepts the manifests of the guide, applied as the page says.
func manifestsOfTheGuide(t *testing.T, c *cluster) {
	page, err := os.ReadFile("../../../docs/guide/kubernetes.md")
	require.NoError(t, err)
	_, manifests, found := strings.Cut(string(page), "\n## 4. The manifests\n")
	require.True(t, found)
	manifests, _, found = strings.Cut(manifests, "\n## 6. Rolling update\n")
	require.True(t, found)

	dir := t.TempDir()
	config := filepath.Join(dir, "kubeconfig")
	require.NoError(t, os.WriteFile(config, []byte(c.kubeconfig(t)), 0o600))
	shell, err := walkthrough.Open(t.Context(), dir, "KUBECONFIG="+config, "DATABASE_URL=postgres://shop@db.example/shop",
		"PATH="+filepath.Dir(c.program)+":"+os.Getenv("PATH"))
	require.NoError(t, err)
	defer shell.Close()
	require.NoError(t, shell.Follow(manifests, func(walkthrough.Step) {}, "kubectl"))
	require.NoError(t, shell.Follow(withRoles, func(walkthrough.Step) {}))
}

const withRoles = "```sh\n" +
	"sed -i 's|services.yaml]|services.yaml, leases/role.yaml, costs/role.yaml]|' deploy/kustomization.yaml\n" +
	"kubectl apply -k deploy/\n" +
	"kubectl get role shop-leases shop-costs\n```\n"

func (c *cluster) kubeconfig(t *testing.T) string {
	token, err := readToken(c.Admin)
	require.NoError(t, err)
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: admin}}]
clusters: [{name: test, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: admin, user: {token: %q}}]
`, c.Server, c.CA, token)
}
