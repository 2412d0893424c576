package main

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"time"
)

//go:embed page
var pageFiles embed.FS

// pageUser is one whom the page can be: Token is empty for a visitor without
// a session.
type pageUser struct {
	Name  string `json:"name"`
	Token string `json:"token"`
}

// people have fixed ids, so that their files are still theirs after a restart.
var people = []struct{ name, id string }{
	{"Alice", "6dd1e6a6-0a0e-4c0a-9d6e-3f6f6c2f8a01"},
	{"Bob", "1c5e9f0a-7d0b-4b7a-8a57-2d8f2b9c4e02"},
}

// withPage puts the page for trying things out in front of Hasura: the root
// and /dev/ are the page's, everything else is Hasura's. One origin for both
// spares the browser a preflight for each query.
func withPage(hasura http.Handler, secret string) http.Handler {
	files, _ := fs.Sub(pageFiles, "page") // fails only for an invalid name
	mux := http.NewServeMux()
	mux.Handle("/", hasura)
	mux.Handle("GET /{$}", http.FileServerFS(files))
	mux.Handle("GET /dev/", http.StripPrefix("/dev", http.FileServerFS(files)))
	mux.HandleFunc("GET /dev/users", func(w http.ResponseWriter, _ *http.Request) {
		writeUsers(w, secret)
	})
	return mux
}

func writeUsers(w http.ResponseWriter, secret string) {
	users := make([]pageUser, 0, len(people)+1)
	for _, p := range people {
		token, err := mint(secret, claims{User: p.id, Role: "user", Expires: time.Now().Add(defaultTokenLife)})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		users = append(users, pageUser{Name: p.name, Token: token})
	}
	users = append(users, pageUser{Name: "nobody (public)"})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err := json.NewEncoder(w).Encode(users); err != nil {
		return // the reader is gone
	}
}
