-- What the five migrations of nhost/hasura-storage amount to, with rows as a project has them.
create table storage.schema_migrations (version bigint primary key, dirty boolean not null);
insert into storage.schema_migrations values (5, false);

create function storage.set_current_timestamp_updated_at() returns trigger language plpgsql as
  $$ begin new.updated_at := now(); return new; end $$;
create function storage.protect_default_bucket_delete() returns trigger language plpgsql as
  $$ begin if old.id = 'default' then raise exception 'no'; end if; return old; end $$;
create function storage.protect_default_bucket_update() returns trigger language plpgsql as
  $$ begin if old.id = 'default' and new.id <> 'default' then raise exception 'no'; end if; return new; end $$;

create table storage.buckets (
  id text primary key,
  created_at timestamptz default now() not null,
  updated_at timestamptz default now() not null,
  download_expiration int not null default 30,
  min_upload_file_size int not null default 1,
  max_upload_file_size int not null default 50000000,
  cache_control text default 'max-age=3600',
  presigned_urls_enabled boolean not null default true,
  constraint download_expiration_valid_range check (download_expiration between 1 and 604800)
);
create table storage.files (
  id uuid default gen_random_uuid() primary key,
  created_at timestamptz default now() not null,
  updated_at timestamptz default now() not null,
  bucket_id text not null default 'default',
  name text,
  size int,
  mime_type text,
  etag text,
  is_uploaded boolean default false,
  uploaded_by_user_id uuid,
  metadata jsonb,
  constraint fk_bucket foreign key (bucket_id) references storage.buckets on update cascade on delete cascade
);
create table storage.virus (
  id uuid primary key,
  created_at timestamptz default now() not null,
  updated_at timestamptz default now() not null,
  file_id uuid not null references storage.files,
  filename text not null,
  virus text not null,
  user_session jsonb not null
);

create trigger set_storage_buckets_updated_at before update on storage.buckets
  for each row execute function storage.set_current_timestamp_updated_at();
create trigger set_storage_files_updated_at before update on storage.files
  for each row execute function storage.set_current_timestamp_updated_at();
create trigger set_storage_virus_updated_at before update on storage.virus
  for each row execute function storage.set_current_timestamp_updated_at();
create trigger check_default_bucket_delete before delete on storage.buckets
  for each row execute function storage.protect_default_bucket_delete();
create trigger check_default_bucket_update before update on storage.buckets
  for each row execute function storage.protect_default_bucket_update();

grant usage on schema storage to former_hasura, former_reader;
grant select, insert, update, delete on all tables in schema storage to former_hasura;
grant select on all tables in schema storage to former_reader;

insert into storage.buckets (id, created_at, updated_at, max_upload_file_size) values
  ('default', '2022-01-04', '2022-01-05', 50000000),
  ('photos', '2022-01-04', '2022-01-05', 2147483647);
insert into storage.files (id, created_at, updated_at, bucket_id, name, size, mime_type, etag, is_uploaded, uploaded_by_user_id, metadata) values
  ('f0000000-0000-4000-8000-000000000001', '2022-02-01', '2022-02-01', 'photos', 'photo.jpg', 2000000000, 'image/jpeg', '"a"', true, gen_random_uuid(), '{"album": 7}'),
  ('f0000000-0000-4000-8000-000000000002', '2022-02-01', '2022-02-01', 'photos', 'bad.exe', 12, 'application/x-msdownload', '"b"', true, null, null),
  ('f0000000-0000-4000-8000-000000000003', '2022-02-01', '2022-02-01', 'default', null, null, null, null, false, null, '[1]');
insert into storage.virus (id, created_at, updated_at, file_id, filename, virus, user_session) values
  (gen_random_uuid(), '2022-02-01', '2022-02-01', 'f0000000-0000-4000-8000-000000000002', 'bad.exe', 'Eicar-Test', '{"x-hasura-role": "user"}');
