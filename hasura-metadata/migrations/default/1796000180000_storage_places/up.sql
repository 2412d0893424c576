-- A file and an upload belong to the bucket where they stand now, not to the one where they stood.

-- 1. Judging what is stored ---------------------------------------------------------------------
-- The service holds bytes to the rules of the bucket that it read. A file may have been moved since:
-- when its row is switched to an object, the rules of the bucket where it stands hold, as for a move.
--
-- Nothing that the service took by the same rules may fail here, so both read a type alike. Only
-- ASCII is folded: in a Turkish database lower('I') is no i.

create or replace function storage.mime_type_allowed(mime_type text, allowed jsonb) returns boolean language sql immutable as $$
  select allowed is null or exists (
    select from jsonb_array_elements_text(allowed) as listed,
      lower(listed collate "C") as pattern,
      lower(coalesce(mime_type, '') collate "C") as whole,
      -- The type without its parameters and what stands around it, or all of what is no type.
      lateral (values (substring(split_part(whole, ';', 1) from '[!-~]+')), (btrim(whole, E' \t\n\x0b\f\r'))) as given (type)
    where pattern in (type, '*/*') or pattern like '%/*' and starts_with(type, left(pattern, -1)))
$$;

create or replace function storage.judge_move() returns trigger language plpgsql as $$
declare
  target storage.buckets;
  stripped boolean;
begin
  if not exists (select from storage.buckets where id = old.bucket_id) then
    return new;
  end if;
  select * into target from storage.buckets where id = new.bucket_id;
  -- The service judges a picture before it removes the metadata. After that it is smaller, or a few
  -- bytes larger if its orientation had to be written anew.
  stripped := target.strip_metadata and old.object_key is distinct from new.object_key;
  if new.size - (case when stripped then 64 else 0 end) > target.max_upload_file_size then
    raise exception 'file-too-big: % bytes, bucket "%" takes at most %', new.size, target.id, target.max_upload_file_size
      using errcode = '23514';
  elsif new.size < target.min_upload_file_size and not stripped then
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

drop trigger if exists judge_switch on storage.files;
create trigger judge_switch before update on storage.files
  for each row when (new.is_uploaded and new.object_key is not null and old.object_key is distinct from new.object_key)
  execute function storage.judge_move();

-- 2. Uploads of a former bucket -----------------------------------------------------------------
-- An upload may outlive its bucket and still name it. A new bucket of that name never reserved its
-- bytes, so closing it must not give them back there: it names no bucket from then on.

create or replace function storage.forget_former() returns trigger language plpgsql as $$
begin
  update storage.uploads set bucket_id = null where bucket_id = new.id;
  return new;
end
$$;

-- After an insert, since one that ends in "on conflict" makes no bucket; before a rename, since
-- follow_rename brings the uploads of the renamed bucket after it.
drop trigger if exists forget_former on storage.buckets;
create trigger forget_former after insert on storage.buckets
  for each row execute function storage.forget_former();
drop trigger if exists forget_former_of_name on storage.buckets;
create trigger forget_former_of_name before update on storage.buckets
  for each row when (old.id <> new.id) execute function storage.forget_former();

insert into storage.hasura_storage_version (version) values (4) on conflict do nothing;
