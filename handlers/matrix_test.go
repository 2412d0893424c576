package handlers_test

import (
	"image/color"
	"strings"
)

// outcome is what the sender of a request sees. In headers and body {id},
// {etag}, {policy} and {content} stand for what is so of the file; "*" at the
// end is anything, "" is nothing.
type outcome struct {
	status        int
	code, message string // of an error
	headers       map[string]string
	body          string
}

// outcomes are all the answers that there are, by the names that stand in the matrix.
var outcomes = map[string]outcome{
	"no file":     {404, "file-not-found", "file not found", nil, "{*"},
	"no bytes":    {403, "not-allowed", "file is not uploaded", nil, "{*"},
	"not allowed": {403, "not-allowed", "you are not authorized", nil, "{*"},
	"not his":     {403, "not-allowed", "you are not authorized", nil, "{*"}, // his role could, were it his
	"no role":     {403, "not-allowed", "you are not authorized", nil, "{*"}, // for this, whosever it is
	"bad token":   {401, "unauthenticated", "invalid or expired jwt", nil, "{*"},
	"taken":       {400, "already-exists", "a file with id {id} exists already", nil, `{"processedFiles":[],"error":*`},

	"content": {200, "", "", map[string]string{
		"Cache-Control": "{policy}", "Content-Type": "image/png", "Etag": "{etag}", "Surrogate-Key": "{id}", "Accept-Ranges": "bytes",
		"Content-Disposition": `inline; filename="a.png"`, "X-Content-Type-Options": "nosniff", "Vary": "Authorization*", "X-Error": "",
	}, "{content}"},
	"picture": {200, "", "", map[string]string{
		"Cache-Control": "{policy}", "Content-Type": "image/png", "Etag": `"*`, "Surrogate-Key": "{id}", "Accept-Ranges": "bytes",
		"Content-Disposition": `inline; filename="a.png"`, "X-Content-Type-Options": "nosniff", "Vary": "Authorization*", "X-Error": "",
	}, "\x89PNG*"},
	"by link": {200, "", "", map[string]string{
		"Cache-Control": "max-age=*", "Surrogate-Control": "max-age=*", "Content-Type": "image/png", "Etag": "{etag}", "Surrogate-Key": "{id}", "Vary": "",
	}, "{content}"},
	"signed": {200, "", "", map[string]string{
		"Cache-Control": "public, max-age=*", "Content-Type": "image/png", "Etag": `"*`, "Surrogate-Key": "{id}", "Vary": "",
	}, "\x89PNG*"},
	"a link":   {200, "", "", unkept, `{"url":"http*`},
	"stored":   {201, "", "", unkept, `{"processedFiles":[{"id":"{id}",*`},
	"switched": {200, "", "", unkept, `{"id":"{id}",*`},
	"deleted":  {204, "", "", map[string]string{"X-Error": "", "Content-Type": ""}, ""},
	"listed":   {200, "", "", unkept, "{*"},
	"told":     {200, "", "", map[string]string{"X-Error": ""}, "*"},
}

// unkept are the headers of an answer that no cache may have.
var unkept = map[string]string{"Cache-Control": "no-store", "Content-Type": "application/json*", "X-Error": "", "Etag": "", "Surrogate-Key": ""}

// route is one route, and in its grid what it answers each caller, by the state
// of the file that it names.
type route struct {
	does    string // {link} and {signed} are links that the owner got when the file was there
	grid    string
	behind  map[string]string      // by outcome, "" is any other: what Hasura is asked → what the store is; all of it
	form    func(id string) []part // the body, if it has one
	changes bool                   // it leaves something: each cell has a file of its own
	walks   bool                   // over all files, so that calls are not counted
	deletes bool                   // files of others: not on a stack in use
}

const (
	looks   = "GetFiles as admin, VisibleFiles as the sender"
	draws   = " → GET variant, GET object, PUT variant"
	admits  = "InsertFiles as the sender, LargestBucket as admin"
	begins  = "InsertUploads as admin, CountOpenUploads as admin"
	commits = "CommitUpload as admin, SettleUpload as admin"
	tidies  = "FileGarbage as admin, DropGarbage as admin → PUT object, DELETE object, GET bucket" // and lists variants
)

const reads = `
	             | absent      | not uploaded | uploaded    | replaced    | expired     | public
	admin        | no file     | no bytes     | content     | content     | no file     | content
	owner        | no file     | no bytes     | content     | content     | no file     | content
	stranger     | no file     | no file      | no file     | no file     | no file     | content
	anonymous    | no file     | no file      | no file     | no file     | no file     | content
	claims admin | no file     | no file      | no file     | no file     | no file     | content
	bad token    | bad token   | bad token    | bad token   | bad token   | bad token   | bad token
	wrong secret | not allowed | not allowed  | not allowed | not allowed | not allowed | not allowed`

const operators = `
	             | uploaded
	admin        | listed
	owner        | not allowed
	stranger     | not allowed
	anonymous    | not allowed
	claims admin | not allowed
	bad token    | not allowed
	wrong secret | not allowed`

const everybody = `
	             | uploaded
	admin        | told
	owner        | told
	stranger     | told
	anonymous    | told
	claims admin | told
	bad token    | told
	wrong secret | told`

var black = string(pixels(color.Black))

// matrix is the REST interface: whoever asks whatever, of a file in any state.
var matrix = []route{
	{does: "GET /files/{id}", grid: reads, behind: map[string]string{"": looks, "content": looks + " → GET object"}},
	{does: "HEAD /files/{id}", grid: reads, behind: map[string]string{"": looks}},
	{does: "GET /files/{id}?w=2", changes: true, grid: strings.ReplaceAll(reads, "content", "picture"), behind: map[string]string{
		"": looks, "picture": "GetFiles as admin ×2, VisibleFiles as the sender" + draws,
	}},
	{does: "GET /files/{id}/presignedurl", grid: strings.ReplaceAll(reads, "content", "a link "), behind: map[string]string{"": looks}},
	{
		does:   "GET {link}",
		behind: map[string]string{"": "GetFiles as admin", "by link": "GetFiles as admin → GET object"},
		grid: `
		             | absent      | not uploaded | uploaded    | replaced    | expired     | public
		admin        | no file     | no bytes     | by link     | by link     | no file     | by link
		owner        | no file     | no bytes     | by link     | by link     | no file     | by link
		stranger     | no file     | no bytes     | by link     | by link     | no file     | by link
		anonymous    | no file     | no bytes     | by link     | by link     | no file     | by link
		claims admin | no file     | no bytes     | by link     | by link     | no file     | by link
		bad token    | no file     | no bytes     | by link     | by link     | no file     | by link
		wrong secret | no file     | no bytes     | by link     | by link     | no file     | by link`,
	},
	{
		does: "GET {signed}", changes: true, // it names a version, and asks for a picture
		behind: map[string]string{"no file": "→ GET variant, HEAD object", "signed": "GetFiles as admin" + draws + ", HEAD object"},
		grid: `
		             | absent      | not uploaded | uploaded    | replaced    | expired     | public
		admin        | no file     | no file      | signed      | no file     | signed      | signed
		owner        | no file     | no file      | signed      | no file     | signed      | signed
		stranger     | no file     | no file      | signed      | no file     | signed      | signed
		anonymous    | no file     | no file      | signed      | no file     | signed      | signed
		claims admin | no file     | no file      | signed      | no file     | signed      | signed
		bad token    | no file     | no file      | signed      | no file     | signed      | signed
		wrong secret | no file     | no file      | signed      | no file     | signed      | signed`,
	},
	{
		does: "PUT /files/{id}", changes: true,
		form: func(string) []part { return []part{{"file", "b.png", "", black}} },
		behind: map[string]string{
			"":        looks,
			"not his": looks + ", TouchFile as the sender, UpdateFile as the sender",
			"no role": looks + ", TouchFile as the sender, UpdateFile as the sender ×2",
			"switched": "GetFiles as admin ×3, VisibleFiles as the sender ×2, TouchFile as the sender ×2, " + begins +
				", OpenKeys as admin ×2, FilesNaming as admin ×2, " + commits + ", " + tidies,
		},
		grid: `
		             | absent      | not uploaded | uploaded    | replaced    | expired     | public
		admin        | no file     | no bytes     | switched    | switched    | no file     | switched
		owner        | no file     | no bytes     | switched    | switched    | no file     | switched
		stranger     | no file     | no file      | no file     | no file     | no file     | not his
		anonymous    | no file     | no file      | no file     | no file     | no file     | no role
		claims admin | no file     | no file      | no file     | no file     | no file     | no role
		bad token    | bad token   | bad token    | bad token   | bad token   | bad token   | bad token
		wrong secret | not allowed | not allowed  | not allowed | not allowed | not allowed | not allowed`,
	},
	{
		does: "DELETE /files/{id}", changes: true,
		behind: map[string]string{
			"":        "DeleteWhere as the sender",
			"deleted": "DeleteWhere as the sender, OpenKeys as admin, FilesNaming as admin, FileGarbage as admin, DropGarbage as admin → DELETE object, GET bucket",
		},
		grid: `
		             | absent      | not uploaded | uploaded    | replaced    | expired     | public
		admin        | no file     | deleted      | deleted     | deleted     | deleted     | deleted
		owner        | no file     | deleted      | deleted     | deleted     | deleted     | deleted
		stranger     | no file     | no file      | no file     | no file     | no file     | no file
		anonymous    | not allowed | not allowed  | not allowed | not allowed | not allowed | not allowed
		claims admin | not allowed | not allowed  | not allowed | not allowed | not allowed | not allowed
		bad token    | bad token   | bad token    | bad token   | bad token   | bad token   | bad token
		wrong secret | not allowed | not allowed  | not allowed | not allowed | not allowed | not allowed`,
	},
	{
		does: "POST /files", changes: true, // under an id that had or has a file
		form: func(id string) []part {
			return []part{{"bucket-id", "", "", "default"}, {"metadata[]", "", "", `{"id":"` + id + `"}`}, {"file[]", "b.png", "", black}}
		},
		behind: map[string]string{
			"":       admits,
			"stored": strings.Replace(admits, "sender", "sender ×2", 1) + ", GetBucket as admin, " + begins + ", CloseFormerUploads as admin, GetFiles as admin ×2, OpenKeys as admin, FilesNaming as admin, " + commits + " → PUT object",
			"taken":  strings.Replace(admits, "sender", "sender ×2", 1) + ", GetBucket as admin, " + begins + ", GetUploads as admin, GetFiles as admin, WithdrawUploads as admin → PUT object, DELETE object",
		},
		grid: `
		             | absent      | not uploaded | uploaded    | replaced    | expired     | public
		admin        | stored      | taken        | taken       | taken       | taken       | taken
		owner        | stored      | taken        | taken       | taken       | taken       | taken
		stranger     | stored      | taken        | taken       | taken       | taken       | taken
		anonymous    | not allowed | not allowed  | not allowed | not allowed | not allowed | not allowed
		claims admin | not allowed | not allowed  | not allowed | not allowed | not allowed | not allowed
		bad token    | bad token   | bad token    | bad token   | bad token   | bad token   | bad token
		wrong secret | not allowed | not allowed  | not allowed | not allowed | not allowed | not allowed`,
	},
	{does: "POST /ops/list-orphans", walks: true, grid: operators, behind: orphans},
	{does: "POST /ops/delete-orphans", walks: true, deletes: true, grid: operators, behind: orphans},
	{does: "POST /ops/list-broken-metadata", walks: true, grid: operators, behind: broken},
	{does: "POST /ops/delete-broken-metadata", walks: true, deletes: true, grid: operators, behind: broken},
	{does: "POST /ops/list-not-uploaded", walks: true, grid: operators, behind: map[string]string{"listed": "NotUploaded as admin"}},
	{does: "GET /version", grid: everybody},
	{does: "GET /healthz", grid: everybody},
	{does: "GET /openapi.yaml", grid: everybody},
}

var (
	orphans = map[string]string{"listed": "KeysOfUploads as admin, FilesNaming as admin → GET bucket"}
	broken  = map[string]string{"listed": "UploadedFiles as admin → HEAD object"}
)
