-- The same rules for the local Hasura.
--
-- SQLite triggers cannot change the row that is being written, so what Postgres does before the
-- write is an update after it here. A trigger never runs inside itself (recursive_triggers is off).
-- A refusal is '<SQLSTATE>: <text>'. "hdb_catalog.hasura_user" holds the session of the mutation.

-- 1. updated_at moves only when another column really differs -----------------------------------

create trigger if not exists touch_bucket after update on "storage.buckets"
when new.updated_at is not old.updated_at or (
    new.id, new.created_at, new.download_expiration, new.min_upload_file_size, new.max_upload_file_size,
    new.cache_control, new.presigned_urls_enabled, new.allowed_mime_types, new.upload_expiration,
    new.quota_bytes, new.image_presets, new.strip_metadata
  ) is not (
    old.id, old.created_at, old.download_expiration, old.min_upload_file_size, old.max_upload_file_size,
    old.cache_control, old.presigned_urls_enabled, old.allowed_mime_types, old.upload_expiration,
    old.quota_bytes, old.image_presets, old.strip_metadata)
begin
  update "storage.buckets" set updated_at = case when (
      new.id, new.created_at, new.download_expiration, new.min_upload_file_size, new.max_upload_file_size,
      new.cache_control, new.presigned_urls_enabled, new.allowed_mime_types, new.upload_expiration,
      new.quota_bytes, new.image_presets, new.strip_metadata
    ) is not (
      old.id, old.created_at, old.download_expiration, old.min_upload_file_size, old.max_upload_file_size,
      old.cache_control, old.presigned_urls_enabled, old.allowed_mime_types, old.upload_expiration,
      old.quota_bytes, old.image_presets, old.strip_metadata
    ) then now() else old.updated_at end
  where id = new.id;
end;

create trigger if not exists touch_file after update on "storage.files"
when new.updated_at is not old.updated_at or (
    new.created_at, new.bucket_id, new.name, new.size, new.mime_type, new.etag, new.is_uploaded,
    new.uploaded_by_user_id, new.metadata, new.object_key, new.sha256, new.width, new.height,
    new.placeholder, new.expires_at
  ) is not (
    old.created_at, old.bucket_id, old.name, old.size, old.mime_type, old.etag, old.is_uploaded,
    old.uploaded_by_user_id, old.metadata, old.object_key, old.sha256, old.width, old.height,
    old.placeholder, old.expires_at)
begin
  update "storage.files" set updated_at = case when (
      new.created_at, new.bucket_id, new.name, new.size, new.mime_type, new.etag, new.is_uploaded,
      new.uploaded_by_user_id, new.metadata, new.object_key, new.sha256, new.width, new.height,
      new.placeholder, new.expires_at
    ) is not (
      old.created_at, old.bucket_id, old.name, old.size, old.mime_type, old.etag, old.is_uploaded,
      old.uploaded_by_user_id, old.metadata, old.object_key, old.sha256, old.width, old.height,
      old.placeholder, old.expires_at
    ) then now() else old.updated_at end
  where id = new.id;
end;

create trigger if not exists touch_virus after update on "storage.virus"
when new.updated_at is not old.updated_at
  or (new.id, new.created_at, new.file_id, new.filename, new.virus, new.user_session)
    is not (old.id, old.created_at, old.file_id, old.filename, old.virus, old.user_session)
begin
  update "storage.virus" set updated_at = case
    when (new.id, new.created_at, new.file_id, new.filename, new.virus, new.user_session)
      is not (old.id, old.created_at, old.file_id, old.filename, old.virus, old.user_session)
    then now() else old.updated_at end
  where id = new.id;
end;

-- 2. The default bucket is neither deleted nor renamed ------------------------------------------

create trigger if not exists keep_default_bucket_row before delete on "storage.buckets"
when old.id = 'default'
begin
  select raise(abort, '23514: the bucket "default" can be neither deleted nor renamed');
end;

create trigger if not exists keep_default_bucket_id before update on "storage.buckets"
when old.id = 'default' and new.id <> 'default'
begin
  select raise(abort, '23514: the bucket "default" can be neither deleted nor renamed');
end;

-- 3. The guard: facts about an object are written by the service alone --------------------------

create trigger if not exists guard_file_insert before insert on "storage.files"
when (new.is_uploaded or new.etag is not null or new.object_key is not null or new.sha256 is not null)
  and exists (select 1 from "hdb_catalog.hasura_user"
              where session is not null and session ->> '$."x-hasura-role"' is not 'admin')
begin
  select raise(abort, '23514: a file''s is_uploaded, etag, object_key, sha256, size and mime_type are set by the storage service alone');
end;

create trigger if not exists guard_file_update before update on "storage.files"
when (new.is_uploaded, new.etag, new.object_key, new.sha256, new.size, new.mime_type)
  is not (old.is_uploaded, old.etag, old.object_key, old.sha256, old.size, old.mime_type)
  and exists (select 1 from "hdb_catalog.hasura_user"
              where session is not null and session ->> '$."x-hasura-role"' is not 'admin')
begin
  select raise(abort, '23514: a file''s is_uploaded, etag, object_key, sha256, size and mime_type are set by the storage service alone');
end;

create trigger if not exists guard_file_id before update on "storage.files"
when old.id <> new.id
begin
  select raise(abort, '23514: the id of a file cannot be changed');
end;

-- 4. Moving a file to another bucket; the cascade of a rename (the old bucket is gone) is no move --

create trigger if not exists judge_move before update on "storage.files"
when old.bucket_id is not new.bucket_id and exists (select 1 from "storage.buckets" where id = old.bucket_id)
begin
  select raise(abort, '23514: file-too-big: ' || new.size || ' bytes, bucket "' || id || '" takes at most ' || max_upload_file_size)
    from "storage.buckets" where id = new.bucket_id and new.size > max_upload_file_size;
  select raise(abort, '23514: file-too-small: ' || new.size || ' bytes, bucket "' || id || '" takes at least ' || min_upload_file_size)
    from "storage.buckets" where id = new.bucket_id and new.size < min_upload_file_size;
  select raise(abort, '23514: mime-type-not-allowed: ' || coalesce(new.mime_type, 'no type') || ', bucket "' || id || '" takes ' || allowed_mime_types)
    from "storage.buckets" as target
    where id = new.bucket_id and allowed_mime_types is not null and (new.is_uploaded or new.mime_type is not null)
      and not exists (
        select 1 from json_each(target.allowed_mime_types) as pattern,
          (select lower(trim(substr(type, 1, instr(type || ';', ';') - 1))) as type
             from (select coalesce(new.mime_type, '') as type)) as given
        where lower(pattern.value) in
          (given.type, substr(given.type, 1, instr(given.type || '/', '/') - 1) || '/*', '*/*'));
end;

-- 5. Garbage: an object that loses its row is written down in the same transaction --------------

create trigger if not exists bury_deleted after delete on "storage.files"
begin
  insert into "storage.garbage" (object_key, file_id) values (old.object_key, old.id);
end;

create trigger if not exists bury_replaced after update of object_key on "storage.files"
when old.is_uploaded and old.object_key is not new.object_key
begin
  insert into "storage.garbage" (object_key, file_id) values (old.object_key, old.id);
end;

-- 6. Quota: used_bytes = uploaded files + open uploads ------------------------------------------
-- Row by row, which costs nothing here. The first statement takes, the second gives, the third asks
-- whether what grew is still within its quota.

create trigger if not exists count_inserted_files after insert on "storage.files"
when new.is_uploaded and new.size > 0
begin
  update "storage.buckets" set used_bytes = used_bytes + new.size where id = new.bucket_id;
  select raise(abort, '23514: quota-exceeded: bucket "' || id || '" would hold ' || used_bytes || ' bytes, its quota is ' || quota_bytes)
    from "storage.buckets" where id = new.bucket_id and used_bytes > quota_bytes;
end;

create trigger if not exists count_deleted_files after delete on "storage.files"
when old.is_uploaded and old.size > 0
begin
  update "storage.buckets" set used_bytes = max(used_bytes - old.size, 0) where id = old.bucket_id;
end;

create trigger if not exists count_updated_files after update of bucket_id, size, is_uploaded on "storage.files"
when (old.bucket_id, old.size, old.is_uploaded) is not (new.bucket_id, new.size, new.is_uploaded)
  and exists (select 1 from "storage.buckets" where id = old.bucket_id)
begin
  update "storage.buckets" set used_bytes = max(used_bytes - iif(old.is_uploaded, coalesce(old.size, 0), 0), 0)
    where id = old.bucket_id;
  update "storage.buckets" set used_bytes = used_bytes + iif(new.is_uploaded, coalesce(new.size, 0), 0)
    where id = new.bucket_id;
  select raise(abort, '23514: quota-exceeded: bucket "' || id || '" would hold ' || used_bytes || ' bytes, its quota is ' || quota_bytes)
    from "storage.buckets" where id = new.bucket_id and used_bytes > quota_bytes
      and iif(new.is_uploaded, coalesce(new.size, 0), 0)
        > iif(old.is_uploaded and old.bucket_id = new.bucket_id, coalesce(old.size, 0), 0);
end;

create trigger if not exists count_inserted_uploads after insert on "storage.uploads"
when new.state = 'open' and new.size > 0
begin
  update "storage.buckets" set used_bytes = used_bytes + new.size where id = new.bucket_id;
  select raise(abort, '23514: quota-exceeded: bucket "' || id || '" would hold ' || used_bytes || ' bytes, its quota is ' || quota_bytes)
    from "storage.buckets" where id = new.bucket_id and used_bytes > quota_bytes;
end;

create trigger if not exists count_deleted_uploads after delete on "storage.uploads"
when old.state = 'open' and old.size > 0
begin
  update "storage.buckets" set used_bytes = max(used_bytes - old.size, 0) where id = old.bucket_id;
end;

create trigger if not exists count_updated_uploads after update of bucket_id, size, state on "storage.uploads"
when (old.bucket_id, old.size, old.state) is not (new.bucket_id, new.size, new.state)
begin
  update "storage.buckets" set used_bytes = max(used_bytes - iif(old.state = 'open', coalesce(old.size, 0), 0), 0)
    where id = old.bucket_id;
  update "storage.buckets" set used_bytes = used_bytes + iif(new.state = 'open', coalesce(new.size, 0), 0)
    where id = new.bucket_id;
  select raise(abort, '23514: quota-exceeded: bucket "' || id || '" would hold ' || used_bytes || ' bytes, its quota is ' || quota_bytes)
    from "storage.buckets" where id = new.bucket_id and used_bytes > quota_bytes
      and iif(new.state = 'open', coalesce(new.size, 0), 0)
        > iif(old.state = 'open' and old.bucket_id is new.bucket_id, coalesce(old.size, 0), 0)
      and (old.bucket_id is null or exists (select 1 from "storage.buckets" where id = old.bucket_id));
end;

-- Open uploads follow a renamed bucket. That is no growth: the sum stands in the renamed row
-- already, so what the trigger above would add is taken off first.
create trigger if not exists follow_rename after update of id on "storage.buckets"
when old.id <> new.id
begin
  update "storage.buckets" set used_bytes = used_bytes - coalesce(
    (select sum(size) from "storage.uploads" where bucket_id = old.id and state = 'open'), 0)
    where id = new.id;
  update "storage.uploads" set bucket_id = new.id where bucket_id = old.id;
end;

update "storage.buckets" set used_bytes =
  coalesce((select sum(size) from "storage.files" where bucket_id = "storage.buckets".id and is_uploaded), 0)
  + coalesce((select sum(size) from "storage.uploads" where bucket_id = "storage.buckets".id and state = 'open'), 0);

insert into "storage.hasura_storage_version" (version) values (2) on conflict do nothing;
