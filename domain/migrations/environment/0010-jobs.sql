-- Scheduled jobs: their slots, claims of runners, and results per provider.
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

-- Claims of runners. A claim only prevents useless attempts of other runners. The lock of the item itself prevents double
-- processing. Not audited, because no row outlives its slot.
create table job_claims (
  provider_id text not null,
  job text not null,
  -- The purchase's reference, or the session's id.
  item text not null,
  slot timestamptz not null,
  -- By the clock of the database, which all runners share.
  claimed_until timestamptz not null,
  failures smallint not null default 0,
  -- It cannot be processed yet. The next slot checks it again.
  is_left boolean not null default false,
  primary key (provider_id, job, item)
);

create index job_claims_of_slot on job_claims (job, slot);

-- Results of the jobs for one provider. If a runner was killed, its last batch may be missing.
create table billing_runs (
  provider_id text not null,
  job text not null,
  slot timestamptz not null,
  started_at timestamptz not null,
  -- Time of the last batch.
  ended_at timestamptz not null,
  done bigint not null default 0,
  -- Items that wait for the next slot.
  postponed bigint not null default 0,
  -- Items that failed several times and wait for the next slot.
  failed bigint not null default 0,
  -- Why the last failed item failed.
  failure text,
  primary key (provider_id, job, slot)
);

create index billing_runs_newest on billing_runs (provider_id, slot desc, job);
create index billing_runs_oldest on billing_runs (slot);

-- Reports on whether what is stored here equals what the payment processor, the ledger and the usage records have.
create table reconciliations (
  provider_id text not null,
  reference text not null unique,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  -- Objects that were created in this time range were compared. The end is exclusive.
  compared_from timestamptz not null,
  compared_to timestamptz not null,
  -- Number of compared objects, by kind.
  compared jsonb not null,
  -- Objects that could not be compared, and the reason.
  gaps jsonb not null,
  -- Number of all findings, including those over the storage limit.
  found int not null check (found >= 0),
  repaired int not null check (repaired between 0 and found),
  primary key (provider_id, reference)
);

create index reconciliations_newest on reconciliations (provider_id, started_at desc, reference);
create index reconciliations_oldest on reconciliations (started_at);

create table reconciliation_findings (
  provider_id text not null,
  reconciliation_ref text not null,
  number int not null,
  kind text not null,
  difference text not null check (difference in ('missing_here', 'missing_there', 'differs')),
  subject text not null,
  ours text,
  theirs text,
  since timestamptz not null,
  is_repaired boolean not null,
  primary key (provider_id, reconciliation_ref, number),
  foreign key (provider_id, reconciliation_ref) references reconciliations (provider_id, reference)
    on delete cascade
);
