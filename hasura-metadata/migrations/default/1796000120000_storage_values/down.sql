-- Takes the triggers and their functions away; rows are not touched.
drop trigger if exists judge_new_size on storage.files;
drop trigger if exists judge_size on storage.files;
drop trigger if exists judge_new_name on storage.files;
drop trigger if exists judge_name on storage.files;

drop function if exists storage.refuse_size(), storage.refuse_name();

delete from storage.hasura_storage_version where version = 3;
