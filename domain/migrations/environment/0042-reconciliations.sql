-- Reports on whether what we have equals what the payment processor, the ledger and the usage records have.
-- Written by: billing-runner.

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
