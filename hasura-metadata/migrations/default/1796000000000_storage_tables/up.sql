-- The tables of the storage schema.
--
-- Safe to run again, and on a database that nhost/hasura-storage made: what is there is kept and
-- widened in place. Existing things are found by what they are, not by the names that one release
-- or another gave them. No superuser is needed, only the owner of the schema.

-- "create schema if not exists" asks for the right to create schemas even where it exists already.
do $$
begin
  if not exists (select from pg_namespace where nspname = 'storage') then
    create schema storage;
  end if;
end
$$;

-- golang-migrate's table belongs to the former service: it is read, never written. A migration
-- that stopped half way must be finished by the service that began it.
do $$
declare
  unfinished boolean := false;
begin
  if to_regclass('storage.schema_migrations') is not null then
    execute 'select coalesce(bool_or(dirty), false) from storage.schema_migrations' into unfinished;
  end if;
  if unfinished then
    raise exception 'storage.schema_migrations is dirty: finish that migration before this one';
  end if;
end
$$;

-- 1. What nhost/hasura-storage also has ---------------------------------------------------------

create table if not exists storage.buckets (
  id text constraint buckets_pkey primary key,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  download_expiration integer not null default 30,
  min_upload_file_size bigint not null default 1,
  max_upload_file_size bigint not null default 50000000,
  cache_control text default 'max-age=3600',
  presigned_urls_enabled boolean not null default true
);

create table if not exists storage.files (
  id uuid default gen_random_uuid() constraint files_pkey primary key,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  bucket_id text not null default 'default',
  name text,
  size bigint,
  mime_type text,
  etag text,
  is_uploaded boolean default false,
  uploaded_by_user_id uuid
);
-- metadata came with a later release of nhost's.
alter table storage.files add column if not exists metadata jsonb;

create table if not exists storage.virus (
  id uuid default gen_random_uuid() constraint virus_pkey primary key,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  file_id uuid,
  filename text not null,
  virus text not null,
  user_session jsonb not null
);
alter table storage.virus alter column id set default gen_random_uuid();

-- Sizes were int4: no file above 2,147,483,647 bytes could be recorded.
do $$
declare
  narrow record;
begin
  for narrow in
    select table_name, column_name from information_schema.columns
    where table_schema = 'storage' and data_type = 'integer' and (table_name, column_name) in (
      ('buckets', 'min_upload_file_size'), ('buckets', 'max_upload_file_size'), ('files', 'size'))
  loop
    execute format('alter table storage.%I alter column %I type bigint', narrow.table_name, narrow.column_name);
  end loop;
end
$$;

-- A record of a virus outlives the file it was found in, so the key must be able to become null.
alter table storage.virus alter column file_id drop not null;
do $$
declare
  holder record;
begin
  for holder in
    select conname from pg_constraint
    where conrelid = 'storage.virus'::regclass and confrelid = 'storage.files'::regclass and confdeltype <> 'n'
  loop
    execute format('alter table storage.virus drop constraint %I', holder.conname);
  end loop;
  if not exists (select from pg_constraint
                 where conrelid = 'storage.virus'::regclass and confrelid = 'storage.files'::regclass) then
    alter table storage.virus add constraint virus_file_id_fkey
      foreign key (file_id) references storage.files (id) on delete set null;
  end if;
end
$$;

-- The names of these two constraints are nhost's.
do $$
begin
  if not exists (select from pg_constraint
                 where conrelid = 'storage.files'::regclass and confrelid = 'storage.buckets'::regclass) then
    alter table storage.files add constraint fk_bucket
      foreign key (bucket_id) references storage.buckets (id) on update cascade on delete cascade;
  end if;
  if not exists (select from pg_constraint where conrelid = 'storage.buckets'::regclass and contype = 'c'
                 and pg_get_constraintdef(oid) ilike '%download_expiration%') then
    alter table storage.buckets add constraint download_expiration_valid_range
      check (download_expiration >= 1 and download_expiration <= 604800);
  end if;
end
$$;

-- 2. What is ours -------------------------------------------------------------------------------

alter table storage.buckets
  -- Null allows any type. Entries are types ("image/png") or families ("image/*").
  add column if not exists allowed_mime_types jsonb
    constraint buckets_allowed_mime_types_check check (jsonb_typeof(allowed_mime_types) = 'array'),
  -- Seconds that a signed URL for an upload lives. Seven days is the most that a store signs.
  add column if not exists upload_expiration integer not null default 3600
    constraint buckets_upload_expiration_check check (upload_expiration >= 1 and upload_expiration <= 604800),
  add column if not exists quota_bytes bigint
    constraint buckets_quota_bytes_check check (quota_bytes >= 0),
  -- Kept by triggers: uploaded files and open uploads.
  add column if not exists used_bytes bigint not null default 0,
  add column if not exists image_presets jsonb
    constraint buckets_image_presets_check check (jsonb_typeof(image_presets) = 'object'),
  add column if not exists strip_metadata boolean not null default false;

alter table storage.files
  -- Null means <root>/<id>, where nhost left its objects.
  add column if not exists object_key text constraint files_object_key_key unique,
  add column if not exists sha256 text,
  add column if not exists width integer,
  add column if not exists height integer,
  add column if not exists placeholder text,
  -- Null means never. From this moment on reads find nothing, and the sweep deletes the row.
  add column if not exists expires_at timestamptz;

-- An upload under way. No foreign keys: the record must outlive the file and the bucket for as long
-- as a signed URL can still write bytes that somebody has to remove.
create table if not exists storage.uploads (
  id uuid default gen_random_uuid() constraint uploads_pkey primary key,
  file_id uuid not null,
  bucket_id text,
  kind text not null constraint uploads_kind_check check (kind in ('create', 'replace', 'copy', 'rest')),
  state text not null default 'open'
    constraint uploads_state_check check (state in ('open', 'committed', 'aborted')),
  closed_by uuid,
  version text,
  object_key text,
  staging_key text constraint uploads_staging_key_key unique,
  multipart_id text,
  part_size bigint,
  name text,
  size bigint constraint uploads_size_check check (size >= 0),
  mime_type text,
  sha256 text,
  metadata jsonb,
  if_match text,
  source_id uuid,
  source_key text,
  session jsonb,
  -- A hash of the session's role and variables: open uploads are limited by session.
  session_key text,
  leased_until timestamptz,
  next_check_at timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

-- Objects that lost their row, written in the transaction that took it away.
create table if not exists storage.garbage (
  id uuid default gen_random_uuid() constraint garbage_pkey primary key,
  object_key text,
  file_id uuid not null,
  created_at timestamptz not null default now()
);

-- One row for each of these migrations that ran; the highest is the version of the schema.
create table if not exists storage.hasura_storage_version (
  version integer constraint hasura_storage_version_pkey primary key,
  applied_at timestamptz not null default now()
);

-- 3. What the service looks for -----------------------------------------------------------------

create index if not exists files_bucket_id_idx on storage.files (bucket_id);
create index if not exists files_expires_at_idx on storage.files (expires_at) where expires_at is not null;
create index if not exists virus_file_id_idx on storage.virus (file_id);
create index if not exists uploads_file_id_idx on storage.uploads (file_id);
create index if not exists uploads_state_next_check_at_idx on storage.uploads (state, next_check_at);
create index if not exists uploads_expires_at_idx on storage.uploads (expires_at);
create index if not exists uploads_open_session_key_idx on storage.uploads (session_key) where state = 'open';
create index if not exists uploads_open_object_key_idx on storage.uploads (object_key) where state = 'open';
create index if not exists uploads_open_source_key_idx on storage.uploads (source_key) where state = 'open';
create index if not exists garbage_created_at_idx on storage.garbage (created_at);
create index if not exists garbage_file_id_idx on storage.garbage (file_id);

-- 4. Rows and rights ----------------------------------------------------------------------------

insert into storage.buckets (id) values ('default') on conflict do nothing;

-- Hasura may connect as another role than the one that migrates. Whoever may do everything with
-- files must be able to do the same with what their triggers write.
do $$
declare
  writer record;
begin
  for writer in
    select grantee from information_schema.role_table_grants
    where table_schema = 'storage' and table_name = 'files' and grantee <> 'PUBLIC'
      and privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
    group by grantee having count(distinct privilege_type) = 4
  loop
    execute format('grant select, insert, update, delete on storage.uploads, storage.garbage, storage.hasura_storage_version to %I', writer.grantee);
  end loop;
end
$$;

insert into storage.hasura_storage_version (version) values (1) on conflict do nothing;
