-- Column types are Postgres's; the local Hasura builds its schema from them.
create table notes (
  id uuid primary key default (gen_random_uuid()),
  user_id uuid not null,
  text text not null constraint notes_text_check check (text <> ''),
  created_at timestamptz not null default (now())
);
