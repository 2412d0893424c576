-- What a row of a file may say, for whoever writes it: renames through Hasura and SQL of any kind
-- never pass the service, which holds uploads to the same limits.
--
-- Triggers and no checks: a row that nhost's service left may break them, and must still be
-- replaced, moved and deleted. Only what is written anew is judged. Null says nothing.

create or replace function storage.refuse_size() returns trigger language plpgsql as $$
begin
  raise exception 'bad-request: size must not be negative' using errcode = '23514';
end
$$;

create or replace function storage.refuse_name() returns trigger language plpgsql as $$
begin
  raise exception 'bad-request: name has % bytes, it must have 1 to 1024', octet_length(new.name) using errcode = '23514';
end
$$;

drop trigger if exists judge_new_size on storage.files;
create trigger judge_new_size before insert on storage.files
  for each row when (new.size < 0) execute function storage.refuse_size();
drop trigger if exists judge_size on storage.files;
create trigger judge_size before update on storage.files
  for each row when (new.size < 0 and old.size is distinct from new.size) execute function storage.refuse_size();

drop trigger if exists judge_new_name on storage.files;
create trigger judge_new_name before insert on storage.files
  for each row when (octet_length(new.name) not between 1 and 1024) execute function storage.refuse_name();
drop trigger if exists judge_name on storage.files;
create trigger judge_name before update on storage.files
  for each row when (octet_length(new.name) not between 1 and 1024 and old.name is distinct from new.name)
  execute function storage.refuse_name();

insert into storage.hasura_storage_version (version) values (3) on conflict do nothing;
