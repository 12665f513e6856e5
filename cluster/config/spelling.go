package config

// nearest returns the key that name is, or else one that it nearly is, or "".
func nearest(name string) string {
	if find(name) != nil {
		return name
	}
	if name == "secret" {
		return "secret_file" // a secret itself is not configured, and without one there is no authentication
	}
	for _, k := range keys {
		if oneEdit(name, k.name) {
			return k.name
		}
	}
	return ""
}

// oneEdit reports whether a becomes b when one byte is inserted, deleted or replaced, or when two
// neighbours change places.
func oneEdit(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return a != b && len(a) <= 1 && len(b) <= 1 || swapped
}
