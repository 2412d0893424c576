package metadata_test

import (
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// formerDatabase returns a database as nhost/hasura-storage leaves it, owned by a role without any
// right beyond its schema, and a connection of that role.
func formerDatabase(t *testing.T) (admin, owner *pgx.Conn) {
	t.Helper()
	admin = newDatabase(t, "")
	mustExec(t, admin, `
		do $$ begin
			if not exists (select from pg_roles where rolname = 'former_owner') then
				create role former_owner login; create role former_hasura login; create role former_reader login;
			end if;
		end $$;
		create schema storage authorization former_owner;
		revoke create on schema public from public`)
	owner = connect(t, admin.Config().Database, "former_owner")
	schema, err := os.ReadFile("testdata/nhost.sql")
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, owner, string(schema))
	return admin, owner
}

func TestAdoptingAFormerDatabase(t *testing.T) {
	admin, owner := formerDatabase(t)
	before := askPostgres(t, admin, formerRows)
	for range 2 {
		if err := migrate(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
	}
	if after := askPostgres(t, admin, formerRows); after != before {
		t.Errorf("rows changed:\n got %s\nwant %s", after, before)
	}
	sameSchema(t, postgresSchema(t, admin), postgresSchema(t, newPostgres(t)))

	for sentence, steps := range map[string][]step{
		"what was uploaded is counted, what was not is not": {
			ask(used, "photos|2000000012"),
			ask(`select used_bytes from storage.buckets where id = 'default'`, "0"),
		},
		"golang-migrate's table is as it was": {
			ask(`select version, dirty from storage.schema_migrations`, "5|false"),
		},
		"a file above two gigabytes fits": {
			do(`insert into storage.files (name, bucket_id, size, is_uploaded) values ('film', 'photos', 3000000000, true)`),
			ask(used, "photos|5000000012"),
		},
		"a file with a virus can be deleted, and its record stays": {
			do(`delete from storage.files where name = 'bad.exe'`),
			ask(`select filename, coalesce(file_id::text, 'none') from storage.virus`, "bad.exe|none"),
			ask(`select count(*) from storage.garbage where object_key is null`, "1"),
		},
		"updated_at follows our rule": {
			do(`update storage.files set name = name`),
			ask(`select count(*) from storage.files where updated_at > '2024-01-01'`, "0"),
		},
		"the default bucket says why it stays": {
			refuse(`delete from storage.buckets where id = 'default'`, keptBucket),
		},
		"whoever could write files can write what their triggers write, readers cannot read tickets": {
			ask(`select has_table_privilege('former_hasura', 'storage.garbage', 'insert'), has_table_privilege('former_hasura', 'storage.uploads', 'delete'),
				has_table_privilege('former_reader', 'storage.uploads', 'select')`, "true|true|false"),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			e := newPostgresEngine(t, admin)
			for _, s := range steps {
				s.run(t, e)
			}
		})
	}
}

const formerRows = `select (select json_agg(b order by b.id) from (select id, created_at, updated_at, download_expiration, min_upload_file_size,
		max_upload_file_size, cache_control, presigned_urls_enabled from storage.buckets) b)::text
	|| (select json_agg(f order by f.id) from (select id, created_at, updated_at, bucket_id, name, size, mime_type, etag, is_uploaded,
		uploaded_by_user_id, metadata from storage.files) f)::text
	|| (select json_agg(v) from storage.virus v)::text`

// TestFormerRowsThatBreakALimitStay, and can be worked with as before.
func TestFormerRowsThatBreakALimitStay(t *testing.T) {
	admin, owner := formerDatabase(t)
	mustExec(t, owner, `update storage.files set name = repeat('x', 2000), size = -5, is_uploaded = true where name = 'bad.exe'`)
	if err := migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	e := newPostgresEngine(t, admin)
	for _, s := range []step{
		ask(`select count(*) from storage.files where octet_length(name) = 2000 and size = -5`, "1"),
		do(`update storage.files set name = name, size = size, metadata = '{}' where size = -5`),
		refuse(`update storage.files set name = name || 'x' where size = -5`, "bad-request: name has 2001 bytes"),
		{as: "admin", do: `update storage.files set size = 7, object_key = 'k' where size = -5`},
		asUser(`update storage.files set name = 'good' where size = 7`),
		do(`delete from storage.files where name = 'good'`),
		ask(`select count(*) from storage.files where octet_length(name) = 2000`, "0"),
	} {
		s.run(t, e)
	}
}

func TestAHalfMigratedFormerDatabaseIsRefused(t *testing.T) {
	_, owner := formerDatabase(t)
	mustExec(t, owner, `update storage.schema_migrations set version = 3, dirty = true`)
	err := migrate(t.Context(), owner)
	if err == nil || !strings.Contains(err.Error(), "storage.schema_migrations is dirty") {
		t.Errorf("err = %v, want a refusal", err)
	}
}

func TestAProjectMayAddColumnsOfAnyType(t *testing.T) {
	conn := newPostgres(t)
	mustExec(t, conn, `alter table storage.files add column extra json, add column place point;
		insert into storage.files (name, extra, updated_at) values ('a', '{"b": 1}', '2020-01-01')`)
	mustExec(t, conn, `update storage.files set extra = '{"b": 1}'`)
	if got := askPostgres(t, conn, `select count(*) from storage.files where updated_at < '2021-01-01'`); got != "1" {
		t.Error("the same value moved updated_at")
	}
	mustExec(t, conn, `update storage.files set place = '(1,2)'`)
	if got := askPostgres(t, conn, `select count(*) from storage.files where updated_at > '2021-01-01'`); got != "1" {
		t.Error("another value did not move updated_at")
	}
}

func TestARoleOfHasurasDeletesFiles(t *testing.T) {
	admin, owner := formerDatabase(t)
	if err := migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	hasura := connect(t, admin.Config().Database, "former_hasura")
	mustExec(t, hasura, `delete from storage.files where name = 'photo.jpg'`)
	if got := askPostgres(t, admin, `select count(*) from storage.garbage`); got != "1" {
		t.Errorf("%s rows of garbage, want 1", got)
	}
}
