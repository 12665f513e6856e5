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

// types are those of the files; the tables of the operating system differ.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

// assets returns what serves the files of the page, by path.
func assets() map[string]http.HandlerFunc {
	served := map[string]http.HandlerFunc{}
	entries, err := files.ReadDir("assets")
	if err != nil {
		panic(err) // they are part of the program
	}
	for _, entry := range entries {
		served["/"+entry.Name()] = asset(entry.Name())
	}
	served["/"] = served["/index.html"]
	delete(served, "/index.html")
	return served
}

// asset serves a file. Browsers may keep it, and ask each time whether it has changed.
func asset(name string) http.HandlerFunc {
	content, err := files.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is part of the program
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
