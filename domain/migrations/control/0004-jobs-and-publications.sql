-- Targets that must still be published to hot state; see the table of the same name in each environment.
-- Written by: control-plane. A row is appended in the transaction that changes the target, and removed after publishing.
create table publications (
  id bigint generated always as identity primary key,
  provider_id text not null,
  kind text not null check (kind in ('api-key')),
  target text not null,
  created_at timestamptz not null default now()
);

create index publications_of_target on publications (kind, provider_id, target);

-- Runs of scheduled jobs for this schema; see the table of the same name in each environment.
-- Written by: billing-runner.
create table job_slots (
  job text not null,
  -- The time from the schedule, or the time at which the job was started by hand.
  slot timestamptz not null,
  is_by_hand boolean not null,
  started_at timestamptz not null,
  -- Null while there is work left, which any runner continues.
  ended_at timestamptz,
  primary key (job, slot)
);
