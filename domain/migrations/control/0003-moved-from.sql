-- The installation that this one was moved from, if any. At most one row.
-- Written by: the migrate command, which runs while no service does. The control plane refuses to start on a move that
-- has begun and not finished.

create table moved_from (
  -- Which installation it is, and all that it held: one that was used since is not the same any more.
  source_id text primary key,
  source_state text not null,
  -- Random; in the names of what is sent to ClickHouse, which drops what it has under the same name.
  move_id text not null,
  -- By step: how far it is.
  steps jsonb not null default '{}',
  started_at timestamptz not null,
  finished_at timestamptz
);
