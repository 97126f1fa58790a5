-- When scheduled jobs ran, of those whose work lies in this schema. The same table as in the environments.
-- Written by: billing-runner.

create table job_slots (
  job text not null,
  -- The moment that the schedule names, or the one at which somebody asked for the job by hand.
  slot timestamptz not null,
  is_by_hand boolean not null,
  started_at timestamptz not null,
  -- Null: there is work left, and any runner goes on with it.
  ended_at timestamptz,
  primary key (job, slot)
);
