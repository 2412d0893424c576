-- Takes away what is ours and keeps buckets, files and virus as nhost/hasura-storage knows them.
--
-- Files that were stored by us live at keys which only object_key knows. Without it they would be
-- lost, so this refuses until the service's "ops rollback-keys" has copied them to <root>/<id>.
do $$
begin
  if exists (select from storage.files where object_key is not null) then
    raise exception 'storage.files has rows with an object_key: run "hasura-storage ops rollback-keys" first';
  end if;
end
$$;

drop table if exists storage.uploads, storage.garbage, storage.hasura_storage_version;
alter table storage.files
  drop column if exists object_key, drop column if exists sha256, drop column if exists width,
  drop column if exists height, drop column if exists placeholder, drop column if exists expires_at;
alter table storage.buckets
  drop column if exists allowed_mime_types, drop column if exists upload_expiration,
  drop column if exists quota_bytes, drop column if exists used_bytes,
  drop column if exists image_presets, drop column if exists strip_metadata;
