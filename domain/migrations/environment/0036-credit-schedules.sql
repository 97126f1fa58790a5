-- Credits that come back to a wallet after a refund or dispute found too few.

-- The ledger transaction before the first attempt: later attempts take only credits of grants up to it. Null: not attempted yet.
alter table credit_take_backs add column grants_up_to_id bigint;
-- The number of postings after the first one.
alter table credit_take_backs add column retakes integer not null default 0 check (retakes >= 0);

update credit_take_backs as taken set grants_up_to_id = (
  select coalesce(max(posted.id), 0) from ledger_transactions as posted
  where posted.provider_id = taken.provider_id and posted.customer_ref = taken.customer_ref
    and posted.created_at <= taken.updated_at
) where taken_micros is not null;

create index credit_take_backs_short on credit_take_backs (provider_id, customer_ref)
  where not is_undone and taken_micros < credits * 1000000::numeric;

-- Credits that a customer gets repeatedly.
-- Written by: control-plane creates and changes schedules, billing-runner gives their grants. Each locks the customer first.
create table credit_schedules (
  provider_id text not null,
  reference text not null unique,
  customer_ref text not null,
  -- The purchase that a grant depends on. Null: grants depend on no purchase.
  purchase_ref text,
  -- Null: the request had none.
  idempotency_key text,
  input_sha256 text not null,
  credits bigint not null check (credits > 0),
  -- A grant every so many days, weeks or months, counted from `counted_from` by the calendar of the time zone.
  every_unit text not null check (every_unit in ('day', 'week', 'month')),
  every_count integer not null check (every_count > 0),
  time_zone text not null,
  counted_from timestamptz not null,
  -- The number of steps from `counted_from` to the next grant.
  step integer not null default 0 check (step >= 0),
  -- The date of the next grant. Null: there is none.
  next_at timestamptz,
  -- No grant is given at this time or later. Null: there is no such time.
  ends_at timestamptz,
  -- The number of grants. Null: any number.
  grants_max integer check (grants_max > 0),
  -- The number of dates that were processed, which numbers the rows of credit_schedule_grants.
  grants_due integer not null default 0 check (grants_due >= 0),
  expiry text not null check (expiry in ('never', 'next_grant', 'days')),
  expiry_days integer check (expiry_days > 0),
  -- Unused credits of an expired grant that the next one adds at most.
  roll_over_max bigint not null check (roll_over_max >= 0),
  priority smallint not null,
  reason text,
  status text not null check (status in ('active', 'paused', 'ended')),
  end_reason text check (end_reason in ('completed', 'ended', 'purchase_ended', 'customer_deleted')),
  -- When the job next looks at the schedule. Null: it waits for a person or for its purchase.
  look_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  check ((expiry = 'days') = (expiry_days is not null)),
  check (expiry = 'next_grant' or roll_over_max = 0),
  check ((status = 'ended') = (end_reason is not null)),
  check ((status = 'ended') = (next_at is null))
);

create unique index credit_schedules_keys on credit_schedules (provider_id, idempotency_key) where idempotency_key is not null;
create index credit_schedules_of_customer on credit_schedules (provider_id, customer_ref, created_at desc);
create index credit_schedules_of_purchase on credit_schedules (provider_id, purchase_ref)
  where purchase_ref is not null and status <> 'ended';
create index credit_schedules_due on credit_schedules (look_at) where look_at is not null;

create trigger audited after insert or update or delete on credit_schedules
  for each row execute function audit_row('reference', 'look_at');

-- The dates of a schedule that were processed, each once: the row is inserted in the transaction that gives the grant.
create table credit_schedule_grants (
  provider_id text not null,
  schedule_ref text not null,
  number integer not null check (number > 0),
  due_at timestamptz not null,
  -- `lapsed`: the credits had expired before they could be given. `refused`: the wallet takes no more credits.
  outcome text not null check (outcome in ('granted', 'lapsed', 'refused')),
  -- The ledger transaction, and so the grant.
  transaction_ref text check ((outcome = 'granted') = (transaction_ref is not null)),
  -- Whole credits that were granted or lapsed, with those that rolled over.
  credits bigint not null check (credits >= 0),
  rolled_over bigint not null check (rolled_over >= 0),
  expires_at timestamptz,
  processed_at timestamptz not null,
  primary key (provider_id, schedule_ref, number),
  foreign key (provider_id, schedule_ref) references credit_schedules (provider_id, reference)
);

-- A purchase that is paid, suspended or ended decides about the grants that depend on it.
create function wake_credit_schedules() returns trigger language plpgsql as $$
begin
  update credit_schedules set look_at = least(look_at, new.updated_at)
    where provider_id = new.provider_id and purchase_ref = new.reference and status = 'active';
  return null;
end $$;

do $$ begin
  execute format('alter function wake_credit_schedules() set search_path = %I, pg_temp', current_schema);
end $$;

create trigger wake_credit_schedules after update of status, next_billing_date, end_date on purchases
  for each row when (
    old.status is distinct from new.status or old.next_billing_date is distinct from new.next_billing_date
    or old.end_date is distinct from new.end_date)
  execute function wake_credit_schedules();
