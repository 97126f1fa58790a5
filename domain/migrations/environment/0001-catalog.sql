-- What a provider sells and what it counts.
-- Written by: control-plane.
--
-- Products and plans that were deleted keep their row with `removed_at`, because purchases, stored events and usage
-- records go on pointing at their references. A removed row is invisible to every look-up.

create table products (
  provider_id text not null,
  reference text not null unique,
  name text not null,
  description text,
  image_url text,
  product_type text,
  status text not null check (status in ('active', 'inactive', 'suspended')),
  is_mcp_pay boolean not null default false,
  config jsonb,
  metadata jsonb not null default '{}',
  tax_behavior text check (tax_behavior in ('auto', 'inclusive', 'exclusive')),
  -- Revenue in minor units, and the number of payments it came from.
  balance bigint not null default 0,
  total_transactions bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  removed_at timestamptz,
  primary key (provider_id, reference)
);

create index products_newest on products (provider_id, created_at desc, reference) where removed_at is null;

create table plans (
  provider_id text not null,
  reference text not null unique,
  product_ref text not null,
  name text not null,
  description text,
  type text not null check (type in ('recurring', 'usage-based', 'hybrid', 'one-time')),
  status text not null check (status in ('active', 'inactive', 'archived')),
  is_default boolean not null default false,
  hidden boolean not null default false,
  -- Minor units of `currency`; those of the default pricing option where there are options.
  price bigint not null check (price >= 0),
  base_price bigint check (base_price >= 0),
  setup_fee bigint check (setup_fee >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  meter_ref text,
  -- Everything else the plan says: cycle, model, units, options, tiers, features. Read as a whole, never queried.
  terms jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  removed_at timestamptz,
  primary key (provider_id, reference),
  foreign key (provider_id, product_ref) references products (provider_id, reference)
);

create index plans_of_product on plans (provider_id, product_ref, created_at) where removed_at is null;
create unique index plans_one_default on plans (provider_id, product_ref) where is_default and removed_at is null;

create table meters (
  provider_id text not null,
  reference text not null unique,
  name text not null,
  display_name text not null,
  description text,
  aggregation text not null check (aggregation in ('count', 'sum')),
  unit text not null,
  status text not null check (status in ('active', 'archived')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference),
  unique (provider_id, name),
  -- Every plan limit is counted on it.
  check (name <> 'requests' or status = 'active')
);
