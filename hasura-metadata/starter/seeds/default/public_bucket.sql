insert into storage.buckets (id) values ('public') on conflict do nothing;
