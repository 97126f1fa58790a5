-- What must still be published to the hot state; see the table of the same name in each environment.
-- Written by: control-plane. Rows are appended in the transaction that changes the target, and removed after publishing.

create table publications (
  id bigint generated always as identity primary key,
  provider_id text not null,
  kind text not null check (kind in ('api-key')),
  target text not null,
  created_at timestamptz not null default now()
);

create index publications_of_target on publications (kind, provider_id, target);
