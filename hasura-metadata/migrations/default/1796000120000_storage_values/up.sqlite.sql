-- The same rules for the local Hasura.

create trigger if not exists judge_new_size before insert on "storage.files"
when new.size < 0
begin
  select raise(abort, '23514: bad-request: size must not be negative');
end;

create trigger if not exists judge_size before update on "storage.files"
when new.size < 0 and old.size is not new.size
begin
  select raise(abort, '23514: bad-request: size must not be negative');
end;

create trigger if not exists judge_new_name before insert on "storage.files"
when octet_length(new.name) not between 1 and 1024
begin
  select raise(abort, '23514: bad-request: name has ' || octet_length(new.name) || ' bytes, it must have 1 to 1024');
end;

create trigger if not exists judge_name before update on "storage.files"
when octet_length(new.name) not between 1 and 1024 and old.name is not new.name
begin
  select raise(abort, '23514: bad-request: name has ' || octet_length(new.name) || ' bytes, it must have 1 to 1024');
end;

insert into "storage.hasura_storage_version" (version) values (3) on conflict do nothing;
