-- Takes the triggers and their functions away; rows are not touched.
drop trigger if exists judge_switch on storage.files;
drop trigger if exists disown_former on storage.buckets;
drop trigger if exists disown_former_of_name on storage.buckets;

drop function if exists storage.judge_switch(), storage.type_taken(text, jsonb), storage.disown_former();

delete from storage.hasura_storage_version where version = 4;
