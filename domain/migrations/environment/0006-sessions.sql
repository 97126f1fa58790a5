-- Hosted pages that were opened for a customer. A session's id lets whoever has it in, so it is random and short-lived.
-- Written by: control-plane.

-- The portal: purchases, renewals, receipts.
create table customer_sessions (
  provider_id text not null,
  session_id text primary key check (session_id ~ '^[0-9a-f]{32}$'),
  customer_ref text not null,
  product_ref text,
  status text not null check (status in ('active', 'used')),
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index customer_sessions_oldest on customer_sessions (expires_at);

create table checkout_sessions (
  provider_id text not null,
  session_id text primary key check (session_id ~ '^[0-9a-f]{32}$'),
  reference text not null unique,
  customer_ref text not null,
  purpose text not null check (purpose in ('product', 'credit_topup')),
  product_ref text,
  -- Null: the customer chooses.
  plan_ref text,
  return_url text,
  -- 'expired' is set by whoever tells of it; before that a session has expired by its time alone.
  status text not null check (status in ('active', 'used', 'expired')),
  -- Minor units of `currency`; null while the customer has not chosen.
  amount bigint check (amount >= 0),
  currency text check (currency ~ '^[A-Z]{3}$'),
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  check (purpose <> 'product' or product_ref is not null)
);

create index checkout_sessions_open on checkout_sessions (expires_at) where status = 'active';
