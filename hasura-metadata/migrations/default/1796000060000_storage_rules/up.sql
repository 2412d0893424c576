-- The rules of the storage schema, as triggers: they hold for whoever writes, through Hasura or not.
--
-- Every refusal is errcode 23514, because Hasura hides the text of a plain RAISE from clients and
-- shows this one as "Check constraint violation. <text>". A text that the service must recognise
-- starts with a stable word and a colon.

-- nhost's versions of the first two rules go. Triggers that a project made stay, whatever they call.
do $$
declare
  former record;
begin
  for former in
    select t.tgname, t.tgrelid::regclass as rel
    from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where not t.tgisinternal
      and t.tgrelid in ('storage.buckets'::regclass, 'storage.files'::regclass, 'storage.virus'::regclass)
      and p.proname in ('set_current_timestamp_updated_at', 'protect_default_bucket_delete', 'protect_default_bucket_update')
  loop
    execute format('drop trigger %I on %s', former.tgname, former.rel);
  end loop;
end
$$;

-- 1. updated_at ---------------------------------------------------------------------------------
-- It moves only when another column really differs. Asking Hasura for the right to update, with a
-- change that changes nothing, must leave no trace. Bytes are compared (*<>), since a project may
-- have added a column whose type knows no equality.

create or replace function storage.touch_row() returns trigger language plpgsql as $$
begin
  new.updated_at := old.updated_at;
  if new *<> old then
    new.updated_at := now();
  end if;
  return new;
end
$$;

-- Counting bytes is no change of a bucket.
create or replace function storage.touch_bucket() returns trigger language plpgsql as $$
declare
  counted bigint := new.used_bytes;
begin
  new.updated_at := old.updated_at;
  new.used_bytes := old.used_bytes;
  if new *<> old then
    new.updated_at := now();
  end if;
  new.used_bytes := counted;
  return new;
end
$$;

drop trigger if exists touch_bucket on storage.buckets;
create trigger touch_bucket before update on storage.buckets for each row execute function storage.touch_bucket();
drop trigger if exists touch_file on storage.files;
create trigger touch_file before update on storage.files for each row execute function storage.touch_row();
drop trigger if exists touch_virus on storage.virus;
create trigger touch_virus before update on storage.virus for each row execute function storage.touch_row();

-- 2. The default bucket -------------------------------------------------------------------------
-- files.bucket_id falls back to it, so it is neither deleted nor renamed.

create or replace function storage.keep_default_bucket() returns trigger language plpgsql as $$
begin
  raise exception 'the bucket "default" can be neither deleted nor renamed' using errcode = '23514';
end
$$;

drop trigger if exists keep_default_bucket_row on storage.buckets;
create trigger keep_default_bucket_row before delete on storage.buckets
  for each row when (old.id = 'default') execute function storage.keep_default_bucket();
drop trigger if exists keep_default_bucket_id on storage.buckets;
create trigger keep_default_bucket_id before update on storage.buckets
  for each row when (old.id = 'default' and new.id <> 'default') execute function storage.keep_default_bucket();

-- 3. The guard ----------------------------------------------------------------------------------
-- What a row says about its object is true because only the service writes it. Permissions that a
-- project gave for another service must not change that. A role is known only through Hasura,
-- which puts the session into hasura.user; psql and migrations have none.

create or replace function storage.guarded_session() returns boolean language sql stable as $$
  select coalesce(nullif(current_setting('hasura.user', true), '')::jsonb ->> 'x-hasura-role' <> 'admin',
                  nullif(current_setting('hasura.user', true), '') is not null)
$$;

create or replace function storage.refuse_fact() returns trigger language plpgsql as $$
begin
  raise exception 'a file''s is_uploaded, etag, object_key, sha256, size and mime_type are set by the storage service alone'
    using errcode = '23514';
end
$$;

create or replace function storage.refuse_id() returns trigger language plpgsql as $$
begin
  raise exception 'the id of a file cannot be changed' using errcode = '23514';
end
$$;

-- At insert size and mime_type are the caller's declaration, and is_uploaded = false says nothing.
drop trigger if exists guard_file_insert on storage.files;
create trigger guard_file_insert before insert on storage.files
  for each row when (
    (new.is_uploaded or new.etag is not null or new.object_key is not null or new.sha256 is not null)
    and storage.guarded_session())
  execute function storage.refuse_fact();

drop trigger if exists guard_file_update on storage.files;
create trigger guard_file_update before update on storage.files
  for each row when (
    (old.is_uploaded is distinct from new.is_uploaded or old.etag is distinct from new.etag
      or old.object_key is distinct from new.object_key or old.sha256 is distinct from new.sha256
      or old.size is distinct from new.size or old.mime_type is distinct from new.mime_type)
    and storage.guarded_session())
  execute function storage.refuse_fact();

-- The id is part of every key of the file, and garbage is found by it: nobody changes it.
drop trigger if exists guard_file_id on storage.files;
create trigger guard_file_id before update on storage.files
  for each row when (old.id <> new.id) execute function storage.refuse_id();

-- 4. Moving a file to another bucket ------------------------------------------------------------
-- The rules of the new bucket hold, as if the file were uploaded there. When a bucket is renamed
-- its files follow by cascade: their old bucket is gone then, and nothing is judged or counted.

create or replace function storage.mime_type_allowed(mime_type text, allowed jsonb) returns boolean language sql immutable as $$
  select allowed is null or exists (
    select from jsonb_array_elements_text(allowed) as pattern,
      lower(btrim(split_part(coalesce(mime_type, ''), ';', 1))) as given
    where lower(pattern) in (given, split_part(given, '/', 1) || '/*', '*/*'))
$$;

create or replace function storage.judge_move() returns trigger language plpgsql as $$
declare
  target storage.buckets;
begin
  if not exists (select from storage.buckets where id = old.bucket_id) then
    return new;
  end if;
  select * into target from storage.buckets where id = new.bucket_id;
  if new.size > target.max_upload_file_size then
    raise exception 'file-too-big: % bytes, bucket "%" takes at most %', new.size, target.id, target.max_upload_file_size
      using errcode = '23514';
  elsif new.size < target.min_upload_file_size then
    raise exception 'file-too-small: % bytes, bucket "%" takes at least %', new.size, target.id, target.min_upload_file_size
      using errcode = '23514';
  -- A row that is not uploaded may still lack its type; completing the upload judges it.
  elsif (new.is_uploaded or new.mime_type is not null)
      and not storage.mime_type_allowed(new.mime_type, target.allowed_mime_types) then
    raise exception 'mime-type-not-allowed: %, bucket "%" takes %', coalesce(new.mime_type, 'no type'), target.id, target.allowed_mime_types
      using errcode = '23514';
  end if;
  return new;
end
$$;

drop trigger if exists judge_move on storage.files;
create trigger judge_move before update on storage.files
  for each row when (old.bucket_id is distinct from new.bucket_id) execute function storage.judge_move();

-- 5. Garbage ------------------------------------------------------------------------------------
-- An object that loses its row is written down in the same transaction, cascades included. Events
-- may be lost or late; this is not.

create or replace function storage.bury_deleted() returns trigger language plpgsql as $$
begin
  insert into storage.garbage (object_key, file_id) select object_key, id from old_rows;
  return null;
end
$$;

create or replace function storage.bury_replaced() returns trigger language plpgsql as $$
begin
  insert into storage.garbage (object_key, file_id) values (old.object_key, old.id);
  return null;
end
$$;

drop trigger if exists bury_deleted on storage.files;
create trigger bury_deleted after delete on storage.files
  referencing old table as old_rows for each statement execute function storage.bury_deleted();
drop trigger if exists bury_replaced on storage.files;
create trigger bury_replaced after update on storage.files
  for each row when (old.is_uploaded and old.object_key is distinct from new.object_key)
  execute function storage.bury_replaced();

-- 6. Quota --------------------------------------------------------------------------------------
-- used_bytes = uploaded files + open uploads. It is added up once a statement, not once a row:
-- updating one bucket 100,000 times in a transaction takes time that grows with the square. Sums
-- are compared, rows are never joined, because a cached plan for one row would be used for all.
-- Buckets are locked in the order of their ids. The update's own row lock makes the sum exact, and
-- is weaker than FOR UPDATE, so it does not wait for the foreign keys of other transactions.

create or replace function storage.charge_bucket(bucket text, bytes bigint) returns void language plpgsql as $$
declare
  charged storage.buckets;
begin
  update storage.buckets set used_bytes = greatest(used_bytes + bytes, 0)
    where id = bucket and bytes <> 0 returning * into charged;
  -- What is over its quota already, because the quota was lowered, may still shrink.
  if bytes > 0 and charged.used_bytes > charged.quota_bytes then
    raise exception 'quota-exceeded: bucket "%" would hold % bytes, its quota is %', bucket, charged.used_bytes, charged.quota_bytes
      using errcode = '23514';
  end if;
end
$$;

create or replace function storage.count_inserted_files() returns trigger language plpgsql as $$
declare
  change record;
begin
  for change in
    select bucket_id, sum(size)::bigint as bytes from new_rows where is_uploaded and size is not null group by 1 order by 1
  loop
    perform storage.charge_bucket(change.bucket_id, change.bytes);
  end loop;
  return null;
end
$$;

create or replace function storage.count_deleted_files() returns trigger language plpgsql as $$
declare
  change record;
begin
  for change in
    select bucket_id, -sum(size)::bigint as bytes from old_rows where is_uploaded and size is not null group by 1 order by 1
  loop
    perform storage.charge_bucket(change.bucket_id, change.bytes);
  end loop;
  return null;
end
$$;

create or replace function storage.count_updated_files() returns trigger language plpgsql as $$
declare
  change record;
begin
  -- A row whose bucket is gone can only come from the cascade of a rename, which touches no others.
  if exists (select from (select distinct bucket_id from old_rows) o
             where not exists (select from storage.buckets b where b.id = o.bucket_id)) then
    return null;
  end if;
  for change in
    select bucket_id, sum(bytes)::bigint as bytes
    from (select bucket_id, size as bytes from new_rows where is_uploaded
          union all
          select bucket_id, -size from old_rows where is_uploaded) as both_sides
    where bytes is not null group by 1 having sum(bytes) <> 0 order by 1
  loop
    perform storage.charge_bucket(change.bucket_id, change.bytes);
  end loop;
  return null;
end
$$;

create or replace function storage.count_inserted_uploads() returns trigger language plpgsql as $$
declare
  change record;
begin
  for change in
    select bucket_id, sum(size)::bigint as bytes from new_rows
    where state = 'open' and bucket_id is not null and size is not null group by 1 order by 1
  loop
    perform storage.charge_bucket(change.bucket_id, change.bytes);
  end loop;
  return null;
end
$$;

create or replace function storage.count_deleted_uploads() returns trigger language plpgsql as $$
declare
  change record;
begin
  for change in
    select bucket_id, -sum(size)::bigint as bytes from old_rows
    where state = 'open' and bucket_id is not null and size is not null group by 1 order by 1
  loop
    perform storage.charge_bucket(change.bucket_id, change.bytes);
  end loop;
  return null;
end
$$;

create or replace function storage.count_updated_uploads() returns trigger language plpgsql as $$
declare
  change record;
begin
  -- Deeper than one means: called by follow_rename below, which counts nothing.
  if pg_trigger_depth() > 1 then
    return null;
  end if;
  for change in
    select bucket_id, sum(bytes)::bigint as bytes
    from (select bucket_id, size as bytes from new_rows where state = 'open'
          union all
          select bucket_id, -size from old_rows where state = 'open') as both_sides
    where bucket_id is not null and bytes is not null group by 1 having sum(bytes) <> 0 order by 1
  loop
    perform storage.charge_bucket(change.bucket_id, change.bytes);
  end loop;
  return null;
end
$$;

-- uploads has no foreign key, so no cascade tells it that a bucket has a new id.
create or replace function storage.follow_rename() returns trigger language plpgsql as $$
begin
  update storage.uploads set bucket_id = new.id where bucket_id = old.id;
  return null;
end
$$;

drop trigger if exists count_inserted on storage.files;
create trigger count_inserted after insert on storage.files
  referencing new table as new_rows for each statement execute function storage.count_inserted_files();
drop trigger if exists count_deleted on storage.files;
create trigger count_deleted after delete on storage.files
  referencing old table as old_rows for each statement execute function storage.count_deleted_files();
drop trigger if exists count_updated on storage.files;
create trigger count_updated after update on storage.files
  referencing old table as old_rows new table as new_rows for each statement execute function storage.count_updated_files();
drop trigger if exists count_inserted on storage.uploads;
create trigger count_inserted after insert on storage.uploads
  referencing new table as new_rows for each statement execute function storage.count_inserted_uploads();
drop trigger if exists count_deleted on storage.uploads;
create trigger count_deleted after delete on storage.uploads
  referencing old table as old_rows for each statement execute function storage.count_deleted_uploads();
drop trigger if exists count_updated on storage.uploads;
create trigger count_updated after update on storage.uploads
  referencing old table as old_rows new table as new_rows for each statement execute function storage.count_updated_uploads();
drop trigger if exists follow_rename on storage.buckets;
create trigger follow_rename after update on storage.buckets
  for each row when (old.id <> new.id) execute function storage.follow_rename();

-- What was there before the triggers were is counted now, while nobody can add to it.
lock table storage.files, storage.uploads in share row exclusive mode;
update storage.buckets b set used_bytes = counted.bytes
from (
  select id, coalesce((select sum(size) from storage.files where bucket_id = k.id and is_uploaded), 0)
    + coalesce((select sum(size) from storage.uploads where bucket_id = k.id and state = 'open'), 0) as bytes
  from storage.buckets k
) as counted
where counted.id = b.id and b.used_bytes <> counted.bytes;

insert into storage.hasura_storage_version (version) values (2) on conflict do nothing;
