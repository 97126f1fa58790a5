-- Corrections of usage. The log and ClickHouse keep the original records; a correction appends signed ones.
-- Written by: control-plane. billing-runner deletes rows of corrected_periods.

create table usage_corrections (
  provider_id text not null,
  reference text not null unique,
  -- Null: the request had none.
  idempotency_key text,
  input_sha256 text not null,
  -- The record or the filter.
  selection jsonb not null,
  action text not null check (action in ('remove', 'set')),
  -- 10^-6 units. Set exactly for 'set'.
  value_micros bigint,
  reason text not null,
  author text not null,
  status text not null check (status in ('requested', 'applying', 'applied')),
  -- The corrections of a provider are applied one after the other in this order, so that two of them never work from the same rest.
  sequence bigint generated always as identity,
  -- Offsets of the log by partition. Only records before them are corrected. Null: no page was worked off.
  read_to jsonb,
  -- The last record of the last page, by time in Unix milliseconds and id. Null: no page was worked off.
  cursor_ms bigint,
  cursor_id text,
  records_corrected bigint not null default 0,
  records_skipped bigint not null default 0,
  -- The process that works on the correction, until when by the clock of the database.
  lease_token text,
  leased_until timestamptz,
  created_at timestamptz not null,
  applied_at timestamptz,
  primary key (provider_id, reference),
  check ((action = 'set') = (value_micros is not null)),
  check ((status = 'applied') = (applied_at is not null)),
  check ((cursor_ms is null) = (cursor_id is null))
);

create unique index usage_corrections_keys on usage_corrections (provider_id, idempotency_key) where idempotency_key is not null;
create index usage_corrections_newest on usage_corrections (provider_id, sequence desc);
create index usage_corrections_waiting on usage_corrections (provider_id, sequence) where status <> 'applied';

-- Progress is not audited: the request is.
create trigger audited after insert or update or delete on usage_corrections
  for each row execute function
    audit_row('reference',
      'status,read_to,cursor_ms,cursor_id,records_corrected,records_skipped,lease_token,leased_until,applied_at');

-- What corrections have changed so far.
create table usage_correction_changes (
  provider_id text not null,
  correction_ref text not null,
  -- The reference under which the usage is recorded.
  customer_ref text not null,
  -- Empty: the usage has no product.
  product_ref text not null,
  meter_name text not null,
  records bigint not null,
  -- 10^-6 units, and 10^-6 credits that go back to the wallet.
  micros numeric(38, 0) not null,
  returned_micros numeric(38, 0) not null,
  primary key (provider_id, correction_ref, customer_ref, product_ref, meter_name),
  foreign key (provider_id, correction_ref) references usage_corrections (provider_id, reference)
);

-- Billed periods whose usage was corrected since their last bill. The next bill of the purchase looks at them again.
create table corrected_periods (
  provider_id text not null,
  purchase_ref text not null,
  period_start timestamptz not null,
  noted_at timestamptz not null,
  -- Until then bills keep the row, because usage that was announced may not be in the log. Null: it is in the log.
  kept_until timestamptz,
  -- Increased by each further correction, so that one that arrives during a bill is not removed with it.
  version bigint not null default 1,
  -- Without a foreign key, which would lock the purchase: a sale locks the customer first.
  primary key (provider_id, purchase_ref, period_start)
);

-- A correction gives credits back to the grants that paid: those burns are negative.
alter table credit_burns drop constraint credit_burns_micros_check, add constraint credit_burns_micros_check check (micros <> 0);
