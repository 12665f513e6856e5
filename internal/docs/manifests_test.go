package docs

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const deploy = root + "/examples/template/deploy"

// A manifest that the kustomization does not name would never be applied.
func TestTheKustomizationNamesEveryManifest(t *testing.T) {
	var kustomization struct{ Resources []string }
	content, err := os.ReadFile(filepath.Join(deploy, "kustomization.yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(content, &kustomization))

	manifests, err := filepath.Glob(filepath.Join(deploy, "*.yaml"))
	require.NoError(t, err)
	named := []string{filepath.Join(deploy, "kustomization.yaml")}
	for _, resource := range kustomization.Resources {
		named = append(named, filepath.Join(deploy, resource))
	}
	require.ElementsMatch(t, manifests, named)
}

// An object has the fields of the manifests that a kustomization changes.
type object struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
	Spec     struct {
		Replicas int
		Template struct {
			Spec struct{ Containers []struct{ Image string } }
		}
	}
}

// On a machine with kubectl, the kustomization and the overlay of the guide build.
func TestTheManifestsHaveTheVersionAndTheNumberOfPods(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Log("make test-kubernetes builds them with a kubectl of its own:", err)
		return
	}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "deploy"), os.DirFS(deploy)))
	_, overlay, found := strings.Cut(read(t, "docs/guide/kubernetes.md"), "<!-- overlay -->\n```yaml\n")
	require.True(t, found)
	overlay, _, found = strings.Cut(overlay, "```")
	require.True(t, found)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "test"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "test", "kustomization.yaml"), []byte(overlay), 0o600))

	requirePods(t, built(t, filepath.Join(dir, "deploy")), "", "registry.example/shop:1.0.0", 3)
	requirePods(t, built(t, filepath.Join(dir, "test")), "shop-test", "registry.test/shop:1.1.0", 2)
}

// requirePods demands the objects of the template in one namespace, and a deployment of one image.
func requirePods(t *testing.T, objects []object, namespace, image string, pods int) {
	t.Helper()
	var names []string
	for _, o := range objects {
		names = append(names, o.Kind+" "+o.Metadata.Name)
		require.Equal(t, namespace, o.Metadata.Namespace, "%s", o.Kind)
		if o.Kind == "Deployment" {
			require.Equal(t, pods, o.Spec.Replicas)
			require.Equal(t, image, o.Spec.Template.Spec.Containers[0].Image)
		}
	}
	require.ElementsMatch(t, []string{
		"ServiceAccount shop", "Service shop", "Service shop-nodes", "Deployment shop", "PodDisruptionBudget shop", "NetworkPolicy shop",
	}, names)
}

// built returns what kubectl would apply.
func built(t *testing.T, dir string) (all []object) {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "kubectl", "kustomize", dir).Output()
	require.NoError(t, err)
	for decoder := yaml.NewDecoder(bytes.NewReader(output)); ; {
		var o object
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, o)
	}
}
