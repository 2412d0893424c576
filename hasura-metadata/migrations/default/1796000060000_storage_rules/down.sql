-- Takes the triggers and their functions away; rows are not touched.
drop trigger if exists touch_bucket on storage.buckets;
drop trigger if exists keep_default_bucket_row on storage.buckets;
drop trigger if exists keep_default_bucket_id on storage.buckets;
drop trigger if exists follow_rename on storage.buckets;
drop trigger if exists touch_file on storage.files;
drop trigger if exists guard_file_insert on storage.files;
drop trigger if exists guard_file_update on storage.files;
drop trigger if exists guard_file_id on storage.files;
drop trigger if exists judge_move on storage.files;
drop trigger if exists bury_deleted on storage.files;
drop trigger if exists bury_replaced on storage.files;
drop trigger if exists count_inserted on storage.files;
drop trigger if exists count_deleted on storage.files;
drop trigger if exists count_updated on storage.files;
drop trigger if exists touch_virus on storage.virus;
drop trigger if exists count_inserted on storage.uploads;
drop trigger if exists count_deleted on storage.uploads;
drop trigger if exists count_updated on storage.uploads;

drop function if exists
  storage.touch_row(), storage.touch_bucket(), storage.keep_default_bucket(), storage.guarded_session(),
  storage.refuse_fact(), storage.refuse_id(), storage.mime_type_allowed(text, jsonb), storage.judge_move(),
  storage.bury_deleted(), storage.bury_replaced(), storage.charge_bucket(text, bigint),
  storage.count_inserted_files(), storage.count_deleted_files(), storage.count_updated_files(),
  storage.count_inserted_uploads(), storage.count_deleted_uploads(), storage.count_updated_uploads(),
  storage.follow_rename();

delete from storage.hasura_storage_version where version = 2;
