-- A file and an upload belong to the bucket where they stand now, not to the one where they stood.
--
-- Nothing that an earlier step defines is defined anew: that step may run again after this one.

-- 1. Judging what is stored ---------------------------------------------------------------------
-- The service holds bytes to the rules of the bucket that it read. A file may have been moved since:
-- when its row is switched to an object, the rules of the bucket where it stands hold, as for a move.
--
-- Nothing that the service took by the same rules may fail here, so both read a type alike. What
-- judges a plain move reads a few odd ones otherwise. Only ASCII is folded: in a Turkish database
-- lower('I') is no i.

create or replace function storage.type_taken(mime_type text, allowed jsonb) returns boolean language sql immutable as $$
  select allowed is null or exists (
    select from jsonb_array_elements_text(allowed) as listed,
      lower(listed collate "C") as pattern,
      lower(coalesce(mime_type, '') collate "C") as whole,
      -- The type without its parameters and what stands around it, or all of what is no type.
      lateral (values (substring(split_part(whole, ';', 1) from '[!-~]+')), (btrim(whole, E' \t\n\x0b\f\r'))) as given (type)
    where pattern in (type, '*/*') or pattern like '%/*' and starts_with(type, left(pattern, -1)))
$$;

create or replace function storage.judge_switch() returns trigger language plpgsql as $$
declare
  target storage.buckets;
begin
  select * into target from storage.buckets where id = new.bucket_id;
  -- The service judges a picture before it removes the metadata. After that it is smaller, or a few
  -- bytes larger if its orientation had to be written anew.
  if new.size - (case when target.strip_metadata then 64 else 0 end) > target.max_upload_file_size then
    raise exception 'file-too-big: % bytes, bucket "%" takes at most %', new.size, target.id, target.max_upload_file_size
      using errcode = '23514';
  elsif new.size < target.min_upload_file_size and not target.strip_metadata then
    raise exception 'file-too-small: % bytes, bucket "%" takes at least %', new.size, target.id, target.min_upload_file_size
      using errcode = '23514';
  elsif not storage.type_taken(new.mime_type, target.allowed_mime_types) then
    raise exception 'mime-type-not-allowed: %, bucket "%" takes %', coalesce(new.mime_type, 'no type'), target.id, target.allowed_mime_types
      using errcode = '23514';
  end if;
  return new;
end
$$;

drop trigger if exists judge_switch on storage.files;
create trigger judge_switch before update on storage.files
  for each row when (new.is_uploaded and new.object_key is not null and old.object_key is distinct from new.object_key)
  execute function storage.judge_switch();

-- 2. Uploads of a former bucket -----------------------------------------------------------------
-- An upload may outlive its bucket and still name it. A new bucket of that name never reserved its
-- bytes, so closing it must not give them back there: it names no bucket from then on.

create or replace function storage.disown_former() returns trigger language plpgsql as $$
begin
  update storage.uploads set bucket_id = null where bucket_id = new.id;
  return null;
end
$$;

-- After an insert, since one that ends in "on conflict" makes no bucket. After a rename, since one
-- statement may rename a bucket and give its name to another: whatever is done before is done for all
-- of its rows first, and the uploads of the former would not have followed yet. What is done after
-- goes row by row, and for a row in the order of the triggers' names. This one stands before
-- follow_rename, which brings the bucket's own uploads.
drop trigger if exists disown_former on storage.buckets;
create trigger disown_former after insert on storage.buckets
  for each row execute function storage.disown_former();
drop trigger if exists disown_former_of_name on storage.buckets;
create trigger disown_former_of_name after update on storage.buckets
  for each row when (old.id <> new.id) execute function storage.disown_former();

insert into storage.hasura_storage_version (version) values (4) on conflict do nothing;
