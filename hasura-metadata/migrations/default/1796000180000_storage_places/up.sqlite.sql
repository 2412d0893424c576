-- The same rules for the local Hasura.

-- 1. Judging what is stored by the bucket where it stands ---------------------------------------
-- The service takes off any white space of Unicode's, so the list of it is long.

create trigger if not exists judge_switch before update on "storage.files"
when new.is_uploaded and new.object_key is not null and old.object_key is not new.object_key
begin
  select raise(abort, '23514: file-too-big: ' || new.size || ' bytes, bucket "' || id || '" takes at most ' || max_upload_file_size)
    from "storage.buckets" where id = new.bucket_id and new.size - iif(strip_metadata, 64, 0) > max_upload_file_size;
  select raise(abort, '23514: file-too-small: ' || new.size || ' bytes, bucket "' || id || '" takes at least ' || min_upload_file_size)
    from "storage.buckets" where id = new.bucket_id and new.size < min_upload_file_size and not strip_metadata;
  select raise(abort, '23514: mime-type-not-allowed: ' || coalesce(new.mime_type, 'no type') || ', bucket "' || id || '" takes ' || allowed_mime_types)
    from "storage.buckets" as target
    where id = new.bucket_id and allowed_mime_types is not null
      and not exists (
        select 1 from (select lower(value) as pattern from json_each(target.allowed_mime_types)) as listed,
          (select trim(substr(whole, 1, instr(whole || ';', ';') - 1), char(9, 10, 11, 12, 13, 32, 133, 160, 5760, 8192, 8193, 8194, 8195,
              8196, 8197, 8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) as type
             from (select lower(coalesce(new.mime_type, '')) as whole)
           union all select trim(lower(coalesce(new.mime_type, '')), char(9, 10, 11, 12, 13, 32))) as given
        where pattern in (type, '*/*')
          or (substr(pattern, -2) = '/*' and substr(type, 1, length(pattern) - 1) = substr(pattern, 1, length(pattern) - 1)));
end;

-- 2. Uploads of a former bucket name none from the moment on that another has its name ----------
-- Before the bucket is there, so that what counts uploads finds none to take their bytes off. An
-- insert that ends in "on conflict" comes here too.
--
-- A row is done with, and what comes after it too, before the next one begins. So follow_rename has
-- taken the uploads of a bucket with it when the same statement gives its name to another.

create trigger if not exists disown_former before insert on "storage.buckets"
when not exists (select 1 from "storage.buckets" where id = new.id)
begin
  update "storage.uploads" set bucket_id = null where bucket_id = new.id;
end;

create trigger if not exists disown_former_of_name before update on "storage.buckets"
when old.id <> new.id and not exists (select 1 from "storage.buckets" where id = new.id)
begin
  update "storage.uploads" set bucket_id = null where bucket_id = new.id;
end;

insert into "storage.hasura_storage_version" (version) values (4) on conflict do nothing;
