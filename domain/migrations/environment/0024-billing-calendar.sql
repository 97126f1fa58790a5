-- What is due when, and what the scheduled jobs have done about it.
-- Written by: billing-runner. It shares purchases with control-plane: whoever changes one locks its row first.

alter table purchases
  -- The billing date, or the end of the trial, that was told of beforehand.
  add column reminded_of timestamptz,
  -- Where the period ends in which usage counts now. Null: there is no next one.
  add column next_reset_at timestamptz;

-- Both are moved by machines, for every purchase of a period's customers.
drop trigger audited on purchases;
create trigger audited after insert or update or delete on purchases
  for each row execute function audit_row('reference', 'reminded_of,next_reset_at');

-- Not the end of a period, so the first look finds that end and tells of nothing.
update purchases set next_reset_at = date_trunc('second', now())
where billing_cycle is not null and status in ('active', 'trialing', 'past_due');

create index purchases_by_billing_date on purchases (next_billing_date)
  where next_billing_date is not null and status in ('active', 'trialing');
create index purchases_by_reset on purchases (next_reset_at)
  where next_reset_at is not null and status in ('active', 'trialing', 'past_due');

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
