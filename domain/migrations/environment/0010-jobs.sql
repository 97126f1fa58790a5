-- Scheduled jobs: what is due when, who works on it, and what was done for whom.
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

-- Who works on what. A claim keeps others from trying in vain; that nothing is done twice is decided under the lock of
-- the thing itself. Not audited: no row outlives its slot.
create table job_claims (
  provider_id text not null,
  job text not null,
  -- The purchase's reference, or the session's id.
  item text not null,
  slot timestamptz not null,
  -- By the clock of the database, which all runners share.
  claimed_until timestamptz not null,
  failures smallint not null default 0,
  -- Cannot be done yet: the next slot looks again.
  is_left boolean not null default false,
  primary key (provider_id, job, item)
);

create index job_claims_of_slot on job_claims (job, slot);

-- What the jobs did for one provider. Of what a runner was killed in, the last batch may be missing.
create table billing_runs (
  provider_id text not null,
  job text not null,
  slot timestamptz not null,
  started_at timestamptz not null,
  -- Of the last batch so far.
  ended_at timestamptz not null,
  done bigint not null default 0,
  -- Left to the next slot.
  postponed bigint not null default 0,
  -- Given up after several tries, until the next slot.
  failed bigint not null default 0,
  -- Why the last one failed.
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
  -- What was made in this time was compared, the end left out.
  compared_from timestamptz not null,
  compared_to timestamptz not null,
  -- How many were compared, by kind.
  compared jsonb not null,
  -- What could not be compared, and why.
  gaps jsonb not null,
  -- Of all findings, also those beyond the limit of what is kept.
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
