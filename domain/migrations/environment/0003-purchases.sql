-- Purchases: what a customer holds.
-- Written by: control-plane. A change of an existing purchase locks its row first.

create table purchases (
  provider_id text not null,
  reference text not null unique,
  customer_ref text not null,
  product_ref text not null,
  -- Null for a credit top-up, which is recorded as a purchase and gives no access.
  plan_ref text,
  -- The plan as it was at purchase time: later edits of the plan never reach it.
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
  -- Periods are computed from the anchor, never from the previous period, so that the 31st comes back.
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
  primary key (provider_id, reference),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  foreign key (provider_id, product_ref) references products (provider_id, reference),
  foreign key (provider_id, plan_ref) references plans (provider_id, reference)
);

-- The states that give access. However many calls arrive at once, a customer has one such purchase of a product.
create unique index purchases_one_with_access on purchases (provider_id, customer_ref, product_ref)
  where plan_ref is not null and status in ('active', 'trialing', 'past_due');

create index purchases_newest on purchases (provider_id, start_date desc, reference);
create index purchases_of_customer on purchases (provider_id, customer_ref, start_date desc);
create index purchases_of_product on purchases (provider_id, product_ref, start_date desc);
