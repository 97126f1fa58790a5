-- Alerts on limits, wallets and spend, budgets of customers, and the thresholds that were reached.
-- Written by: control-plane. Alerts and budgets by requests, everything else by its jobs; debits of wallets also fire by other
-- services that remove credits.

create table alerts (
  provider_id text not null,
  reference text not null unique,
  watches text not null check (watches in ('limit', 'wallet', 'spend')),
  -- Key of a charge or of a limit of plans. Null: every limit.
  limit_key text,
  -- The plan or the customer for which the alert is. Both null: for all.
  plan_ref text,
  customer_ref text,
  -- [{"percent": 80}, {"units": 1000}, {"credits": 500}, {"amountMinor": 10000, "currency": "USD"}]. Empty: no alert, in place of a
  -- less specific one.
  thresholds jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference),
  constraint alerts_one_level check (num_nonnulls(plan_ref, customer_ref) <= 1),
  constraint alerts_limit_of_limits check (limit_key is null or watches = 'limit')
);

-- Each place has one alert, so that the most specific one is unique.
create unique index alerts_one_each on alerts
  (provider_id, watches, coalesce(customer_ref, ''), coalesce(plan_ref, ''), coalesce(limit_key, ''));
create index alerts_of_customer on alerts (provider_id, customer_ref) where customer_ref is not null;

create trigger audited after insert or update or delete on alerts
  for each row execute function audit_row('reference');

-- What a customer wants to spend on the usage of a product in one billing period.
create table budgets (
  provider_id text not null,
  customer_ref text not null,
  product_ref text not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Stop: limit checks refuse once the usage of the period has cost the amount.
  action text not null check (action in ('warn', 'stop')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, customer_ref, product_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create trigger audited after insert or update or delete on budgets
  for each row execute function audit_row('customer_ref,product_ref');

-- What the usage of the current period of a product has cost, as it was last measured. It decides whether a budget stops. Not
-- audited, because a job writes it again and again.
create table spend_readings (
  provider_id text not null,
  customer_ref text not null,
  product_ref text not null,
  purchase_ref text not null,
  period_start timestamptz not null,
  period_end timestamptz not null,
  spent_minor bigint not null check (spent_minor >= 0),
  currency text not null,
  measured_at timestamptz not null,
  primary key (provider_id, customer_ref, product_ref)
);

-- Up to where the log was searched for customers whose usage is to be compared with their alerts.
create table alert_positions (
  log_partition integer primary key,
  next_offset bigint not null check (next_offset >= 0)
);

-- Customers to compare with their alerts, because they used something. The rows are as many as customers, not as usage.
create table alert_checks (
  provider_id text not null,
  customer_ref text not null,
  -- Unix hours in which they used something, newest first.
  used_hours integer[] not null,
  -- Increased by each further usage, so that usage during a check causes another check.
  version bigint not null default 1,
  -- By the clock of the database, which all processes share.
  due_at timestamptz not null default now(),
  -- The claim of the current check, and the end of its lease. Null: it is not claimed.
  claim integer not null default 0,
  claimed_until timestamptz,
  failures smallint not null default 0,
  primary key (provider_id, customer_ref)
) with (fillfactor = 70);

create index alert_checks_due on alert_checks (due_at);

-- The thresholds that were reached. The primary key emits each of them once.
create table alert_firings (
  provider_id text not null,
  customer_ref text not null,
  -- What was watched: product, kind and key, and the limit's size.
  subject text not null,
  period text not null,
  threshold text not null,
  fired_at timestamptz not null,
  -- The webhook event's `data.object`.
  object jsonb not null,
  -- Until then, the portal shows it. Null: for good.
  period_end timestamptz,
  -- Until then late usage can reach the threshold again. Null: for good.
  kept_until timestamptz,
  primary key (provider_id, customer_ref, subject, period, threshold)
);

create index alert_firings_expired on alert_firings (kept_until) where kept_until is not null;
