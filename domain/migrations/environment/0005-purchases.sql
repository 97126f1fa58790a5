-- Purchases of customers.
-- Written by: control-plane and billing-runner. Every change of a purchase locks its row first.

create table purchases (
  provider_id text not null,
  reference text not null unique,
  customer_ref text not null,
  -- Null for a credit top-up.
  product_ref text,
  -- Null for a credit top-up, which is recorded as a purchase and gives no access.
  plan_ref text,
  -- The plan at the time of the purchase. Later edits of the plan do not change it.
  plan_snapshot jsonb,
  status text not null check (
    status in ('pending', 'active', 'trialing', 'past_due', 'cancelled', 'expired', 'suspended', 'refunded')
  ),
  origin text not null check (origin in ('paid', 'free_default', 'manual', 'one_time', 'credit_topup')),
  -- USD cents; `original_amount` is in minor units of `currency`.
  amount bigint not null check (amount >= 0),
  original_amount bigint check (original_amount >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  exchange_rate numeric(20, 10),
  -- Periods are computed from the anchor, and not from the previous period, so that the 31st is used again after shorter
  -- months.
  anchor timestamptz not null,
  cycle_mode text not null check (cycle_mode in ('calendar', 'fixed_days')),
  billing_cycle text,
  is_recurring boolean not null,
  auto_renew boolean not null,
  start_date timestamptz not null,
  end_date timestamptz,
  next_billing_date timestamptz,
  paid_at timestamptz,
  cancelled_at timestamptz,
  cancellation_reason text,
  -- When access stopped for a reason other than `end_date`.
  ended_at timestamptz,
  metadata jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The billing date, or the end of the trial, for which a reminder was emitted.
  reminded_of timestamptz,
  -- End of the period in which usage is counted now. Null: there is no next period.
  next_reset_at timestamptz,
  -- Number of consecutive failed charges for the due period, and the time of the next charge.
  retry_count smallint not null default 0 check (retry_count >= 0),
  next_retry_at timestamptz,
  -- End of the first period whose usage is not billed yet. Null: usage is never billed, or all of it has been billed.
  next_usage_bill_at timestamptz,
  -- For an ended purchase whose last period is billed: the time at which late usage is billed for the last time.
  usage_closes_at timestamptz,
  -- When access was last restored after a suspension. Periods that ended before leave no units to the next one.
  access_restored_at timestamptz,
  -- Start of the period for which the carried-over units are final, and their number in 10^-6 units.
  carried_into timestamptz,
  carried_over_micros bigint check (carried_over_micros >= 0),
  -- When no more late usage of the previous period is accepted, so that the units that it leaves are final.
  carry_settles_at timestamptz,
  -- When the purchase was last suspended: periods that ended between this and `access_restored_at` leave no units.
  suspended_at timestamptz,
  -- The purchase that this one replaced. Null: there was none.
  replaces text,
  -- For the first period: the counter window in which its usage is counted, the start of the usage that counts against its
  -- allowance, and the end of that allowance. Null: the purchase starts a full allowance in its own window.
  allowance_window text,
  allowance_since timestamptz,
  allowance_until timestamptz,
  -- The plan to which the purchase changes, at the time of the choice. Its first period is charged by it. Null: none.
  scheduled_plan jsonb,
  -- Units that the price of the first period includes, in 10^-6 units. Null: the included units of the plan.
  first_included_micros bigint,
  -- The start of the first period of `scheduled_plan`. Null: the next renewal.
  scheduled_plan_at timestamptz,
  -- [{"window": window of a purchase whose change was reverted, "into": window in which this purchase counts}], oldest first.
  -- Null: none.
  windows_taken_in jsonb,
  primary key (provider_id, reference),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  foreign key (provider_id, product_ref) references products (provider_id, reference),
  foreign key (provider_id, plan_ref) references plans (provider_id, reference),
  constraint purchases_carried_check check ((carried_into is null) = (carried_over_micros is null)),
  constraint purchases_allowance_whole check (
    num_nulls(allowance_window, allowance_since, allowance_until) in (0, 3)
  )
);

-- Covers the states that give access. Even with concurrent requests, a customer has at most one such purchase of a product.
create unique index purchases_one_with_access on purchases (provider_id, customer_ref, product_ref)
  where plan_ref is not null and status in ('active', 'trialing', 'past_due');

create index purchases_newest on purchases (provider_id, start_date desc, reference);
create index purchases_of_customer on purchases (provider_id, customer_ref, start_date desc);
create index purchases_of_product on purchases (provider_id, product_ref, start_date desc);
create index purchases_of_plan on purchases (provider_id, plan_ref, start_date desc);
create index purchases_by_status on purchases (provider_id, status, start_date desc);

-- A refund looks up the purchase that replaced another one.
create index purchases_replaces on purchases (provider_id, replaces) where replaces is not null;

-- Due items of scheduled jobs.
create index purchases_ending on purchases (end_date)
  where end_date is not null and status in ('active', 'trialing', 'past_due');
create index purchases_by_billing_date on purchases (next_billing_date)
  where next_billing_date is not null and status in ('active', 'trialing');
create index purchases_by_reset on purchases (next_reset_at)
  where next_reset_at is not null and status in ('active', 'trialing', 'past_due');
create index purchases_by_retry on purchases (next_retry_at) where status = 'past_due';
-- A purchase that ended within a period is billed for the usage up to its end.
create index purchases_by_usage_bill on purchases (least(next_usage_bill_at, ended_at))
  where next_usage_bill_at is not null and status not in ('pending', 'trialing', 'refunded');
create index purchases_by_usage_close on purchases (usage_closes_at)
  where usage_closes_at is not null;
create index purchases_by_carry_settlement on purchases (carry_settles_at)
  where carry_settles_at is not null;

-- Columns that jobs update for every purchase in every period are not audited.
create trigger audited after insert or update or delete on purchases
  for each row execute function
    audit_row('reference',
      'reminded_of,next_reset_at,next_usage_bill_at,usage_closes_at,carried_into,carried_over_micros,carry_settles_at');
