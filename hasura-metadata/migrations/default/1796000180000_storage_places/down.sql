-- Takes the triggers away and puts the former functions back; rows are not touched.
drop trigger if exists judge_switch on storage.files;
drop trigger if exists forget_former on storage.buckets;
drop trigger if exists forget_former_of_name on storage.buckets;

drop function if exists storage.forget_former();

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

delete from storage.hasura_storage_version where version = 4;
