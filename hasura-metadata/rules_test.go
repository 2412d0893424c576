package metadata_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metadata "hasura-storage/hasura-metadata"

	"github.com/jackc/pgx/v5/pgconn"
)

func migrationList() ([]metadata.Migration, error) { return metadata.Migrations() }

// engine is a database with all migrations applied.
type engine interface {
	// exec runs SQL of Postgres's dialect as a role through Hasura, or outside of it if role is empty.
	exec(t *testing.T, role, sql string) error
	// ask returns rows, separated by a space, of columns, separated by |.
	ask(t *testing.T, sql string) string
}

// step does something, and says what comes of it.
type step struct {
	as    string // role; empty means not through Hasura
	do    string // statements
	fails string // part of the message of a refusal with SQLSTATE 23514; empty means success
	ask   string // query
	want  string // its answer
}

func session(role string) string {
	if role == "nobody" {
		return `{"x-hasura-user-id":"7"}` // a session that names no role
	}
	return fmt.Sprintf(`{"x-hasura-role":%q,"x-hasura-user-id":"7"}`, role)
}

func line(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, "|")
}

// A file and an upload are named by one letter in the rules below.
func expand(sql string) string {
	for _, c := range "fgu" {
		sql = strings.ReplaceAll(sql, ":"+string(c), fmt.Sprintf("'%c0000000-0000-4000-8000-000000000000'", map[rune]rune{'f': 'f', 'g': 'a', 'u': 'b'}[c]))
	}
	return sql
}

// refused tells whether err is a refusal that Hasura shows to the client.
func refused(err error, text string) bool {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code == "23514" && strings.Contains(pg.Message, text)
	}
	return err != nil && strings.Contains(err.Error(), "23514: ") && strings.Contains(err.Error(), text)
}

const (
	facts = "set by the storage service alone"
	used  = `select id, used_bytes from storage.buckets where id <> 'default' order by id`
)

func do(sql string) step            { return step{do: sql} }
func asUser(sql string) step        { return step{as: "user", do: sql} }
func refuse(sql, fails string) step { return step{do: sql, fails: fails} }
func ask(sql, want string) step     { return step{ask: sql, want: want} }

var guardRules = map[string][]step{
	"a role declares size and type when it creates a file": {
		asUser(`insert into storage.files (id, name, size, mime_type, is_uploaded) values (:f, 'a', 5, 'text/plain', false)`),
		ask(`select name, size, mime_type from storage.files`, "a|5|text/plain"),
	},
	"a role cannot create a file that claims an object": {
		{as: "user", do: `insert into storage.files (is_uploaded) values (true)`, fails: facts},
		{as: "user", do: `insert into storage.files (etag) values ('"x"')`, fails: facts},
		{as: "user", do: `insert into storage.files (object_key) values ('k')`, fails: facts},
		{as: "user", do: `insert into storage.files (sha256) values ('00')`, fails: facts},
		ask(`select count(*) from storage.files`, "0"),
	},
	"a role cannot change what a row says about its object": {
		do(`insert into storage.files (id, name, size, mime_type) values (:f, 'a', 5, 'text/plain')`),
		{as: "user", do: `update storage.files set is_uploaded = true`, fails: facts},
		{as: "user", do: `update storage.files set is_uploaded = null`, fails: facts},
		{as: "user", do: `update storage.files set etag = 'x'`, fails: facts},
		{as: "user", do: `update storage.files set object_key = 'x'`, fails: facts},
		{as: "user", do: `update storage.files set sha256 = 'x'`, fails: facts},
		{as: "user", do: `update storage.files set size = 6`, fails: facts},
		{as: "user", do: `update storage.files set size = null`, fails: facts},
		{as: "user", do: `update storage.files set mime_type = 'image/png'`, fails: facts},
		{as: "nobody", do: `update storage.files set size = 6`, fails: facts},
	},
	"a role may name these columns with the values that they have": {
		do(`insert into storage.files (id, size, mime_type, is_uploaded, etag) values (:f, 5, 'text/plain', true, 'e')`),
		asUser(`update storage.files set size = 5, mime_type = 'text/plain', is_uploaded = true, etag = 'e', name = 'b'`),
		ask(`select name from storage.files`, "b"),
	},
	"the service, as admin, writes them all": {
		{as: "admin", do: `insert into storage.files (id, is_uploaded, etag, object_key, sha256, size) values (:f, true, 'e', 'k', 's', 1)`},
		{as: "admin", do: `update storage.files set is_uploaded = false, etag = 'f', object_key = 'l', sha256 = 't', size = 2, mime_type = 'a/b'`},
		ask(`select etag, object_key, sha256, size, mime_type from storage.files`, "f|l|t|2|a/b"),
	},
	"nobody changes the id of a file": {
		do(`insert into storage.files (id) values (:f)`),
		refuse(`update storage.files set id = :g`, "the id of a file cannot be changed"),
		{as: "admin", do: `update storage.files set id = :g`, fails: "the id of a file cannot be changed"},
		do(`update storage.files set id = :f`),
	},
}

const old = `'2020-01-01T00:00:00.000000+00:00'`

var touchRules = map[string][]step{
	"a change moves updated_at of a file": {
		do(`insert into storage.files (id, name, updated_at) values (:f, 'a', ` + old + `)`),
		do(`update storage.files set name = 'b'`),
		ask(`select count(*) from storage.files where updated_at > '2021-01-01'`, "1"),
	},
	"a change that changes nothing leaves updated_at": {
		do(`insert into storage.files (id, name, metadata, updated_at) values (:f, 'a', '{"a":1}', ` + old + `)`),
		do(`update storage.files set name = 'a', metadata = metadata`),
		ask(`select count(*) from storage.files where updated_at < '2021-01-01'`, "1"),
	},
	"updated_at cannot be set alone": {
		do(`insert into storage.files (id, updated_at) values (:f, ` + old + `)`),
		do(`update storage.files set updated_at = '2030-01-01T00:00:00.000000+00:00'`),
		ask(`select count(*) from storage.files where updated_at < '2021-01-01'`, "1"),
	},
	"a change moves updated_at of a bucket, counting does not": {
		do(`insert into storage.buckets (id, updated_at) values ('a', ` + old + `)`),
		do(`insert into storage.files (id, bucket_id, size, is_uploaded) values (:f, 'a', 5, true)`),
		ask(`select used_bytes from storage.buckets where id = 'a' and updated_at < '2021-01-01'`, "5"),
		do(`update storage.buckets set strip_metadata = true where id = 'a'`),
		ask(`select used_bytes from storage.buckets where id = 'a' and updated_at > '2021-01-01'`, "5"),
	},
	"a virus outlives its file, and moves": {
		do(`insert into storage.files (id) values (:f)`),
		do(`insert into storage.virus (file_id, filename, virus, user_session, updated_at) values (:f, 'a', 'Eicar', '{}', ` + old + `)`),
		do(`delete from storage.files`),
		ask(`select virus from storage.virus where file_id is null and updated_at > '2021-01-01'`, "Eicar"),
	},
}

const keptBucket = `"default" can be neither deleted nor renamed`

var bucketRules = map[string][]step{
	"the default bucket is there and stays": {
		ask(`select id, used_bytes from storage.buckets`, "default|0"),
		refuse(`delete from storage.buckets`, keptBucket),
		refuse(`update storage.buckets set id = 'other'`, keptBucket),
		{as: "admin", do: `delete from storage.buckets`, fails: keptBucket},
		do(`update storage.buckets set id = 'default', max_upload_file_size = 7`),
		ask(`select max_upload_file_size from storage.buckets`, "7"),
	},
	"another bucket goes, with its files": {
		do(`insert into storage.buckets (id) values ('a')`),
		do(`insert into storage.files (id, bucket_id, size, is_uploaded) values (:f, 'a', 5, true)`),
		do(`delete from storage.buckets where id = 'a'`),
		ask(`select count(*) from storage.files`, "0"),
	},
}

const file = `insert into storage.files (id, size, mime_type, is_uploaded) values (:f, 50, 'Image/PNG; a=b', true)`

var moveRules = map[string][]step{
	"a bucket takes no file that is too big or too small for it": {
		do(`insert into storage.buckets (id, max_upload_file_size, min_upload_file_size) values ('small', 49, 1), ('large', 100, 51)`),
		do(file),
		refuse(`update storage.files set bucket_id = 'small'`, `file-too-big: 50 bytes, bucket "small" takes at most 49`),
		refuse(`update storage.files set bucket_id = 'large'`, `file-too-small: 50 bytes, bucket "large" takes at least 51`),
		do(`update storage.buckets set max_upload_file_size = 50 where id = 'small'`),
		asUser(`update storage.files set bucket_id = 'small'`),
		ask(`select bucket_id from storage.files`, "small"),
	},
	"a bucket takes only the types that it allows": {
		do(`insert into storage.buckets (id, allowed_mime_types) values
			('text', '["text/*", "image/pn", "png"]'), ('none', '[]'), ('png', '["IMAGE/png"]'), ('images', '["image/*"]'), ('any', '["*/*"]')`),
		do(file),
		refuse(`update storage.files set bucket_id = 'text'`, `mime-type-not-allowed: Image/PNG; a=b, bucket "text" takes ["text/*", "image/pn", "png"]`),
		refuse(`update storage.files set bucket_id = 'none'`, `mime-type-not-allowed: `),
		do(`update storage.files set bucket_id = 'png'`),
		do(`update storage.files set bucket_id = 'images'`),
		do(`update storage.files set bucket_id = 'any'`),
	},
	"a file without a type is judged once it is uploaded": {
		do(`insert into storage.buckets (id, allowed_mime_types) values ('a', '["image/*"]')`),
		do(`insert into storage.files (id, size) values (:f, 5)`),
		do(`update storage.files set bucket_id = 'a'`),
		do(`update storage.files set bucket_id = 'default'`),
		do(`update storage.files set is_uploaded = true`),
		refuse(`update storage.files set bucket_id = 'a'`, `mime-type-not-allowed: no type, bucket "a" takes`),
	},
	"a move counts in both buckets, and minds the quota": {
		do(`insert into storage.buckets (id, quota_bytes) values ('a', 100), ('b', 50), ('c', 49)`),
		do(file + `; update storage.files set bucket_id = 'a'`),
		ask(used, "a|50 b|0 c|0"),
		refuse(`update storage.files set bucket_id = 'c'`, `quota-exceeded: bucket "c" would hold 50 bytes, its quota is 49`),
		ask(used, "a|50 b|0 c|0"),
		do(`update storage.files set bucket_id = 'b'`),
		ask(used, "a|0 b|50 c|0"),
	},
	"the files of a renamed bucket follow, uncounted and unjudged": {
		do(`insert into storage.buckets (id) values ('a')`),
		do(file + `; update storage.files set bucket_id = 'a'`),
		do(`insert into storage.uploads (file_id, bucket_id, kind, size, expires_at) values (:f, 'a', 'replace', 7, now())`),
		do(`update storage.buckets set max_upload_file_size = 1, quota_bytes = 1, allowed_mime_types = '[]' where id = 'a'`),
		do(`update storage.buckets set id = 'z' where id = 'a'`),
		ask(used, "z|57"),
		ask(`select f.bucket_id, u.bucket_id from storage.files f, storage.uploads u`, "z|z"),
		do(`update storage.uploads set state = 'aborted'`),
		ask(used, "z|50"),
	},
}

// A file of 50 bytes of any type, replaced by an admin in a bucket that takes few. What a replace
// sets is what the service's commit sets.
const (
	narrow = `insert into storage.buckets (id, max_upload_file_size, min_upload_file_size, allowed_mime_types) values ('a', 100, 10, '["image/*", "text/Plain", "x y"]'),
		('bare', 100, 10, null); update storage.buckets set strip_metadata = true where id = 'bare'`
	standing = `insert into storage.files (id, bucket_id, object_key, size, mime_type, is_uploaded) values (:f, 'a', 'k', 50, 'image/png', true)`
)

func replaced(size int, mimeType string) string {
	return fmt.Sprintf(`update storage.files set is_uploaded = true, object_key = 'k' || object_key, size = %d, mime_type = '%s'`, size, mimeType)
}

var switchRules = map[string][]step{
	"a replace is judged by the bucket where the file stands now": {
		do(narrow + `; insert into storage.files (id, object_key, size, mime_type, is_uploaded) values (:f, 'k', 50, 'image/png', true)`),
		asUser(`update storage.files set bucket_id = 'a'`),
		{as: "admin", do: replaced(101, "image/png"), fails: `file-too-big: 101 bytes, bucket "a" takes at most 100`},
		{as: "admin", do: replaced(9, "image/png"), fails: `file-too-small: 9 bytes, bucket "a" takes at least 10`},
		{as: "admin", do: replaced(50, "text/html"), fails: `mime-type-not-allowed: text/html, bucket "a" takes ["image/*", "text/Plain", "x y"]`},
		ask(`select object_key, size from storage.files`, "k|50"),
		ask(`select count(*) from storage.garbage`, "0"),
		{as: "admin", do: replaced(100, "image/gif")},
		ask(`select size, mime_type from storage.files`, "100|image/gif"),
	},
	"so is a new file": {
		do(narrow + `; insert into storage.files (id, bucket_id, size) values (:f, 'a', 5)`),
		refuse(`update storage.files set is_uploaded = true, object_key = 'k', size = 101, mime_type = 'image/png'`, `file-too-big: `),
		do(`update storage.files set is_uploaded = true, object_key = 'k', size = 10, mime_type = 'image/png'`),
	},
	"a type is read as the service reads it": {
		do(narrow + `; ` + standing),
		do(replaced(50, "image/png; a=b")),
		do(replaced(50, " IMAGE/x-icon\t\u00a0;a")),
		do(replaced(50, "TEXT/plain\n; charset=utf-8")),
		do(replaced(50, "X y")),
		refuse(replaced(50, "image"), `mime-type-not-allowed: `),
		refuse(replaced(50, "text/plain2"), `mime-type-not-allowed: `),
		refuse(replaced(50, "application/x; image/png"), `mime-type-not-allowed: `),
	},
	"removed metadata makes a picture smaller than it was judged, or a little larger": {
		do(narrow + `; ` + standing + `; update storage.files set bucket_id = 'bare'`),
		do(replaced(1, "image/png")),
		do(replaced(164, "image/png")),
		refuse(replaced(165, "image/png"), `file-too-big: 165 bytes, bucket "bare" takes at most 100`),
		refuse(`update storage.files set bucket_id = 'a'`, `file-too-big: 164 bytes, bucket "a" takes at most 100`),
	},
	"what keeps its object is not judged again": {
		do(narrow + `; ` + standing),
		do(`update storage.buckets set max_upload_file_size = 49, allowed_mime_types = '[]' where id = 'a'`),
		do(`update storage.files set name = 'b', object_key = 'k', size = 50`),
		do(`update storage.files set object_key = null, etag = 'e'`),
	},
}

var garbageRules = map[string][]step{
	"a deleted file leaves its key": {
		do(`insert into storage.files (id, object_key, is_uploaded) values (:f, 'k', true)`),
		asUser(`delete from storage.files`),
		ask(`select object_key, count(*) from storage.garbage where file_id = :f group by 1`, "k|1"),
	},
	"a deleted file of the former layout leaves its id": {
		do(`insert into storage.files (id, is_uploaded) values (:f, true)`),
		do(`delete from storage.files`),
		ask(`select count(*) from storage.garbage where file_id = :f and object_key is null`, "1"),
	},
	"files that go with their bucket leave their keys": {
		do(`insert into storage.buckets (id) values ('a')`),
		do(`insert into storage.files (id, bucket_id, object_key) values (:f, 'a', 'k'), (:g, 'a', 'l')`),
		do(`delete from storage.buckets where id = 'a'`),
		ask(`select object_key from storage.garbage order by 1`, "k l"),
	},
	"a replaced file leaves its former key": {
		do(`insert into storage.files (id, object_key, is_uploaded) values (:f, 'k', true), (:g, null, true)`),
		do(`update storage.files set object_key = 'l' where id = :f`),
		do(`update storage.files set object_key = 'm' where id = :g`),
		ask(`select coalesce(object_key, 'none') from storage.garbage order by 1`, "k none"),
	},
	"a file that was not uploaded had no object to lose": {
		do(`insert into storage.files (id, object_key) values (:f, 'k')`),
		do(`update storage.files set object_key = 'l', is_uploaded = true`),
		do(`update storage.files set object_key = 'l', name = 'b'`),
		ask(`select count(*) from storage.garbage`, "0"),
	},
	"a refused delete leaves nothing": {
		do(`insert into storage.files (id, object_key) values (:f, 'k')`),
		refuse(`delete from storage.files; delete from storage.buckets`, keptBucket),
		ask(`select count(*) from storage.garbage`, "0"),
	},
}

const (
	bucket = `insert into storage.buckets (id, quota_bytes) values ('a', 100), ('b', 100)`
	upload = `insert into storage.uploads (id, file_id, bucket_id, kind, size, expires_at) values (:u, :f, 'a', 'create', 60, now())`
	over   = `quota-exceeded: bucket "a" would hold`
)

var quotaRules = map[string][]step{
	"an uploaded file counts from the moment it is": {
		do(bucket + `; insert into storage.files (id, bucket_id, size) values (:f, 'a', 60)`),
		ask(used, "a|0 b|0"),
		do(`update storage.files set is_uploaded = true`),
		ask(used, "a|60 b|0"),
		do(`update storage.files set size = 70`),
		ask(used, "a|70 b|0"),
		do(`update storage.files set is_uploaded = false`),
		ask(used, "a|0 b|0"),
		do(`update storage.files set is_uploaded = true`),
		do(`delete from storage.files`),
		ask(used, "a|0 b|0"),
	},
	"an upload counts as long as it is open": {
		do(bucket + `; ` + upload),
		ask(used, "a|60 b|0"),
		do(`update storage.uploads set state = 'committed'`),
		ask(used, "a|0 b|0"),
		do(`delete from storage.uploads`),
		ask(used, "a|0 b|0"),
		do(upload + `; delete from storage.uploads`),
		ask(used, "a|0 b|0"),
	},
	"an upload counts where it stands": {
		do(bucket),
		do(`insert into storage.uploads (id, file_id, kind, size, expires_at) values (:u, :f, 'create', 60, now())`),
		ask(used, "a|0 b|0"),
		do(`update storage.uploads set bucket_id = 'a'`),
		ask(used, "a|60 b|0"),
		do(`update storage.uploads set bucket_id = 'b'`),
		ask(used, "a|0 b|60"),
		do(`update storage.uploads set bucket_id = 'nowhere'`),
		ask(used, "a|0 b|0"),
		do(`update storage.uploads set bucket_id = 'b', size = 61`),
		ask(used, "a|0 b|61"),
		do(`update storage.uploads set bucket_id = null`),
		ask(used, "a|0 b|0"),
	},
	"a bucket can be filled to its quota, and no further": {
		do(bucket + `; insert into storage.files (id, bucket_id, size, is_uploaded) values (:f, 'a', 100, true)`),
		refuse(`insert into storage.files (bucket_id, size, is_uploaded) values ('a', 1, true)`, over+" 101 bytes, its quota is 100"),
		refuse(upload, over+" 160 bytes, its quota is 100"),
		refuse(`update storage.files set size = 101`, over),
		do(`insert into storage.uploads (id, file_id, bucket_id, kind, size, expires_at) values (:u, :f, 'b', 'create', 60, now())`),
		refuse(`update storage.uploads set bucket_id = 'a'`, over),
		refuse(`update storage.uploads set bucket_id = 'a', size = 1`, over),
		ask(used, "a|100 b|60"),
		do(`insert into storage.files (bucket_id, size) values ('a', 1000)`),
		refuse(`update storage.files set is_uploaded = true`, over),
		do(`update storage.buckets set quota_bytes = null where id = 'a'`),
		do(`update storage.files set is_uploaded = true`),
		ask(used, "a|1100 b|60"),
	},
	"a reservation becomes the file in one transaction": {
		do(bucket + `; ` + upload + `; insert into storage.files (id, bucket_id, size) values (:f, 'a', 60)`),
		do(`insert into storage.files (id, bucket_id, size, is_uploaded) values (:g, 'a', 40, true)`),
		ask(used, "a|100 b|0"),
		{as: "admin", do: `update storage.uploads set state = 'committed'; update storage.files set is_uploaded = true where id = :f`},
		ask(used, "a|100 b|0"),
	},
	"what is over a lowered quota may shrink and go, not grow": {
		do(bucket + `; insert into storage.files (id, bucket_id, size, is_uploaded) values (:f, 'a', 50, true), (:g, 'a', 50, true)`),
		do(`update storage.buckets set quota_bytes = 10`),
		refuse(`update storage.files set size = 51 where id = :f`, over),
		do(`update storage.files set size = 40 where id = :f`),
		do(`update storage.files set name = 'b'`),
		do(`delete from storage.files where id = :f`),
		ask(used, "a|50 b|0"),
	},
	"a file that goes with its bucket is counted nowhere": {
		do(bucket + `; ` + upload + `; insert into storage.files (id, bucket_id, size, is_uploaded) values (:f, 'a', 5, true)`),
		do(`delete from storage.buckets where id = 'a'`),
		do(`update storage.uploads set state = 'aborted'`),
		ask(used, "b|0"),
	},
	"an upload of a deleted bucket counts in full where it is moved to": {
		do(bucket + `; ` + upload + `; delete from storage.buckets where id = 'a'`),
		do(`update storage.uploads set bucket_id = 'b'`),
		ask(used, "b|60"),
		do(`delete from storage.uploads`),
		ask(used, "b|0"),
	},
	"an upload that outlived its bucket takes nothing off another of that name": {
		do(bucket + `; ` + upload + `; delete from storage.buckets where id = 'a'`),
		do(`insert into storage.buckets (id) values ('a')`),
		do(`insert into storage.files (id, bucket_id, size, is_uploaded) values (:f, 'a', 60, true)`),
		ask(used, "a|60 b|0"),
		do(`update storage.uploads set state = 'aborted'`),
		do(`delete from storage.uploads`),
		ask(used, "a|60 b|0"),
	},
	"nor off one that is given that name": {
		do(bucket + `; ` + upload + `; delete from storage.buckets where id = 'a'`),
		do(`insert into storage.uploads (file_id, bucket_id, kind, size, expires_at) values (:f, 'b', 'create', 70, now())`),
		do(`update storage.buckets set id = 'a' where id = 'b'`),
		ask(used, "a|70"),
		do(`update storage.uploads set state = 'aborted' where size = 60`),
		ask(used, "a|70"),
		do(`delete from storage.uploads`),
		ask(used, "a|0"),
	},
	"in a chain of renames each bucket keeps its uploads, and gets none of the former of its name": {
		do(bucket + `; ` + upload + `; insert into storage.buckets (id) values ('c')`),
		do(`insert into storage.uploads (file_id, bucket_id, kind, size, expires_at) values
			(:f, 'b', 'create', 5, now()), (:f, 'c', 'create', 7, now())`),
		do(`delete from storage.buckets where id = 'c'`),
		do(`update storage.buckets set id = 'c' where id = 'a'`), // in one statement the order of rows would decide
		do(`update storage.buckets set id = 'a' where id = 'b'`),
		ask(`select size, coalesce(bucket_id, 'none') from storage.uploads order by size`, "5|a 7|none 60|c"),
		ask(used, "a|5 c|60"),
		do(`update storage.uploads set state = 'aborted'`),
		ask(used, "a|0 c|0"),
	},
	"the uploads of a bucket that is there already stay its own": {
		do(bucket + `; ` + upload),
		do(`insert into storage.buckets (id) values ('a') on conflict do nothing`),
		do(`insert into storage.buckets (id) values ('a') on conflict (id) do update set cache_control = 'no-store'`),
		ask(used, "a|60 b|0"),
		do(`update storage.uploads set state = 'aborted'`),
		ask(used, "a|0 b|0"),
	},
	"sizes above four gigabytes are sizes": {
		do(`insert into storage.buckets (id, max_upload_file_size, quota_bytes) values ('a', 5497558138880, 9000000000000)`),
		do(`insert into storage.files (id, bucket_id, size, is_uploaded) values (:f, 'a', 5497558138880, true)`),
		ask(used, "a|5497558138880"),
	},
}

// longestName has 1,024 bytes in half as many letters.
var longestName = strings.Repeat("ü", 512)

var valueRules = map[string][]step{
	"settings of a bucket have bounds": {
		{do: `update storage.buckets set download_expiration = 0`, fails: "download_expiration_valid_range"},
		{do: `update storage.buckets set download_expiration = 604801`, fails: "download_expiration_valid_range"},
		{do: `update storage.buckets set upload_expiration = 0`, fails: "buckets_upload_expiration_check"},
		{do: `update storage.buckets set quota_bytes = -1`, fails: "buckets_quota_bytes_check"},
		{do: `update storage.buckets set allowed_mime_types = '{}'`, fails: "buckets_allowed_mime_types_check"},
		{do: `update storage.buckets set image_presets = '[]'`, fails: "buckets_image_presets_check"},
	},
	"a file's name has 1 to 1024 bytes, or there is none yet": {
		do(`insert into storage.files (id, name) values (:f, '` + longestName + `')`),
		do(`insert into storage.files (id) values (:g)`),
		refuse(`insert into storage.files (name) values ('`+longestName+`x')`, "bad-request: name has 1025 bytes, it must have 1 to 1024"),
		refuse(`insert into storage.files (name) values ('')`, "bad-request: name has 0 bytes"),
		{as: "user", do: `update storage.files set name = ''`, fails: "bad-request: name has 0 bytes"},
		{as: "admin", do: `update storage.files set name = '` + longestName + `x'`, fails: "bad-request: name has 1025 bytes"},
		asUser(`update storage.files set name = 'b' where id = :g`),
		do(`update storage.files set name = null`),
		ask(`select count(*) from storage.files where name is null`, "2"),
	},
	"a file's size is not negative, or not known yet": {
		do(`insert into storage.files (id, size) values (:f, 0)`),
		do(`insert into storage.files (id) values (:g)`),
		refuse(`insert into storage.files (size) values (-1)`, "bad-request: size must not be negative"),
		{as: "admin", do: `update storage.files set size = -1`, fails: "bad-request: size must not be negative"},
		do(`update storage.files set size = null`),
		ask(`select count(*) from storage.files where size is null`, "2"),
	},
	"an upload is of a known kind, in a known state": {
		{do: `insert into storage.uploads (file_id, kind, expires_at) values (:f, 'move', now())`, fails: "uploads_kind_check"},
		{do: `insert into storage.uploads (file_id, kind, state, expires_at) values (:f, 'copy', 'lost', now())`, fails: "uploads_state_check"},
		{do: `insert into storage.uploads (file_id, kind, size, expires_at) values (:f, 'copy', -1, now())`, fails: "uploads_size_check"},
	},
}

var ruleBooks = map[string]map[string][]step{
	"guard": guardRules, "updated_at": touchRules, "buckets": bucketRules, "move": moveRules, "switch": switchRules,
	"garbage": garbageRules, "quota": quotaRules, "values": valueRules,
}

func TestRulesOnPostgres(t *testing.T) {
	conn := newPostgres(t)
	runRules(t, func(t *testing.T) engine {
		t.Helper()
		return newPostgresEngine(t, conn)
	})
}

func TestRulesOnSQLite(t *testing.T) {
	runRules(t, func(t *testing.T) engine {
		t.Helper()
		return sqliteEngine{newSQLite(t)}
	})
}

// TestRulesHoldAfterEarlierStepsRanAgain: whoever copied the first folders alone into a project may apply
// them to a database that knows more.
func TestRulesHoldAfterEarlierStepsRanAgain(t *testing.T) {
	list, err := migrationList()
	if err != nil {
		t.Fatal(err)
	}
	earlier := list[:len(list)-1]
	t.Run("Postgres", func(t *testing.T) {
		conn := newPostgres(t)
		for _, m := range earlier {
			mustExec(t, conn, "begin;\n"+m.Up+"\ncommit")
		}
		runRules(t, func(t *testing.T) engine {
			t.Helper()
			return newPostgresEngine(t, conn)
		})
	})
	t.Run("SQLite", func(t *testing.T) {
		runRules(t, func(t *testing.T) engine {
			t.Helper()
			db := newSQLite(t)
			for _, m := range earlier {
				execSQLite(t, db, m.UpSQLite)
			}
			return sqliteEngine{db}
		})
	})
}

func runRules(t *testing.T, open func(*testing.T) engine) {
	t.Helper()
	for book, rules := range ruleBooks {
		for sentence, steps := range rules {
			t.Run(book+"/"+sentence, func(t *testing.T) {
				e := open(t)
				for _, s := range steps {
					s.run(t, e)
				}
			})
		}
	}
}

func (s step) run(t *testing.T, e engine) {
	t.Helper()
	if s.ask != "" {
		if got := e.ask(t, expand(s.ask)); got != s.want {
			t.Errorf("%s\n got %s\nwant %s", s.ask, got, s.want)
		}
		return
	}
	err := e.exec(t, s.as, expand(s.do))
	switch {
	case s.fails == "" && err != nil:
		t.Errorf("as %q: %s: %v", s.as, s.do, err)
	case s.fails != "" && !refused(err, s.fails) && !checkFailed(err, s.fails):
		t.Errorf("as %q: %s: %v, want a refusal with %q", s.as, s.do, err, s.fails)
	}
}

// checkFailed tells whether a check constraint of that name failed; SQLite has no SQLSTATE for it.
func checkFailed(err error, name string) bool {
	return err != nil && strings.Contains(err.Error(), "CHECK constraint failed: "+name)
}
