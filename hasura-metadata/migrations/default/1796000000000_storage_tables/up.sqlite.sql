-- The same tables for the local Hasura. Postgres schema.table is the SQLite table "schema.table".

create table if not exists "storage.buckets" (
  id text not null constraint buckets_pkey primary key,
  created_at timestamptz not null default (now()),
  updated_at timestamptz not null default (now()),
  download_expiration integer not null default 30,
  min_upload_file_size bigint not null default 1,
  max_upload_file_size bigint not null default 50000000,
  cache_control text default 'max-age=3600',
  presigned_urls_enabled boolean not null default true,
  allowed_mime_types jsonb
    constraint buckets_allowed_mime_types_check check (json_type(allowed_mime_types) = 'array'),
  upload_expiration integer not null default 3600
    constraint buckets_upload_expiration_check check (upload_expiration >= 1 and upload_expiration <= 604800),
  quota_bytes bigint
    constraint buckets_quota_bytes_check check (quota_bytes >= 0),
  used_bytes bigint not null default 0,
  image_presets jsonb
    constraint buckets_image_presets_check check (json_type(image_presets) = 'object'),
  strip_metadata boolean not null default false,
  constraint download_expiration_valid_range check (download_expiration >= 1 and download_expiration <= 604800)
);

create table if not exists "storage.files" (
  id uuid not null default (gen_random_uuid()) constraint files_pkey primary key,
  created_at timestamptz not null default (now()),
  updated_at timestamptz not null default (now()),
  bucket_id text not null default 'default',
  name text,
  size bigint,
  mime_type text,
  etag text,
  is_uploaded boolean default false,
  uploaded_by_user_id uuid,
  metadata jsonb,
  object_key text constraint files_object_key_key unique,
  sha256 text,
  width integer,
  height integer,
  placeholder text,
  expires_at timestamptz,
  constraint fk_bucket foreign key (bucket_id) references "storage.buckets" (id) on update cascade on delete cascade
);

create table if not exists "storage.virus" (
  id uuid not null default (gen_random_uuid()) constraint virus_pkey primary key,
  created_at timestamptz not null default (now()),
  updated_at timestamptz not null default (now()),
  file_id uuid,
  filename text not null,
  virus text not null,
  user_session jsonb not null,
  constraint virus_file_id_fkey foreign key (file_id) references "storage.files" (id) on delete set null
);

create table if not exists "storage.uploads" (
  id uuid not null default (gen_random_uuid()) constraint uploads_pkey primary key,
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
  session_key text,
  leased_until timestamptz,
  next_check_at timestamptz,
  attempts integer not null default 0,
  created_at timestamptz not null default (now()),
  expires_at timestamptz not null
);

create table if not exists "storage.garbage" (
  id uuid not null default (gen_random_uuid()) constraint garbage_pkey primary key,
  object_key text,
  file_id uuid not null,
  created_at timestamptz not null default (now())
);

create table if not exists "storage.hasura_storage_version" (
  version integer not null constraint hasura_storage_version_pkey primary key,
  applied_at timestamptz not null default (now())
);

create index if not exists files_bucket_id_idx on "storage.files" (bucket_id);
create index if not exists files_expires_at_idx on "storage.files" (expires_at) where expires_at is not null;
create index if not exists virus_file_id_idx on "storage.virus" (file_id);
create index if not exists uploads_file_id_idx on "storage.uploads" (file_id);
create index if not exists uploads_state_next_check_at_idx on "storage.uploads" (state, next_check_at);
create index if not exists uploads_expires_at_idx on "storage.uploads" (expires_at);
create index if not exists uploads_open_session_key_idx on "storage.uploads" (session_key) where state = 'open';
create index if not exists uploads_open_object_key_idx on "storage.uploads" (object_key) where state = 'open';
create index if not exists uploads_open_source_key_idx on "storage.uploads" (source_key) where state = 'open';
create index if not exists garbage_created_at_idx on "storage.garbage" (created_at);
create index if not exists garbage_file_id_idx on "storage.garbage" (file_id);

insert into "storage.buckets" (id) values ('default') on conflict do nothing;
insert into "storage.hasura_storage_version" (version) values (1) on conflict do nothing;
