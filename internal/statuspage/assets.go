package statuspage

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"time"
)

//go:embed assets
var files embed.FS

// Those of the operating system would differ by machine.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

func assets() map[string]http.HandlerFunc {
	served := map[string]http.HandlerFunc{}
	entries, err := files.ReadDir("assets")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, entry := range entries {
		served["/"+entry.Name()] = asset(entry.Name())
	}
	served["/"] = served["/index.html"]
	delete(served, "/index.html")
	return served
}

// A browser may cache it, and asks each time whether it has changed.
func asset(name string) http.HandlerFunc {
	content, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // the file is part of the program
	}
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", types[path.Ext(name)])
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	}
}
