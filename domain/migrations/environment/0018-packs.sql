-- Packs: one-time plans whose units are used beside the running plan of the same product.
-- Written by: control-plane and billing-runner. A change of units locks the row of `pack_accounts` first.

-- A pack gives no access of its own, so it does not count as the purchase that decides about the product.
alter table purchases add column is_pack boolean not null default false;
drop index purchases_one_with_access;
create unique index purchases_one_with_access on purchases (provider_id, customer_ref, product_ref)
  where plan_ref is not null and not is_pack and status in ('active', 'trialing', 'past_due');

-- One row per customer and product that ever had a pack.
create table pack_accounts (
  provider_id text not null,
  customer_ref text not null,
  product_ref text not null,
  -- Usage of periods that ended until then, and of packs that ended until then, is in `pack_uses`, except late usage.
  settled_to timestamptz not null,
  -- When the next period, pack or refund is to be settled. Null: nothing is due.
  due_at timestamptz,
  primary key (provider_id, customer_ref, product_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  foreign key (provider_id, product_ref) references products (provider_id, reference)
);

create index pack_accounts_due on pack_accounts (due_at) where due_at is not null;

create table packs (
  provider_id text not null,
  purchase_ref text not null,
  customer_ref text not null,
  product_ref text not null,
  meter_name text not null,
  -- 10^-6 units: bought, used, and taken back after a refund or a dispute.
  units_micros bigint not null check (units_micros > 0),
  used_micros bigint not null default 0 check (used_micros >= 0),
  taken_micros bigint not null default 0 check (taken_micros >= 0),
  starts_at timestamptz not null,
  -- Null: the units do not expire.
  ends_at timestamptz,
  primary key (provider_id, purchase_ref),
  foreign key (provider_id, purchase_ref) references purchases (provider_id, reference),
  foreign key (provider_id, customer_ref, product_ref)
    references pack_accounts (provider_id, customer_ref, product_ref),
  -- No unit is used twice, and no used unit is taken back.
  constraint packs_within_units check (used_micros + taken_micros <= units_micros)
);

create index packs_of_account on packs (provider_id, customer_ref, product_ref);

-- The units of packs that paid for usage of a period. Only grows.
create table pack_uses (
  provider_id text not null,
  pack_ref text not null,
  -- The purchase of the plan, and the start of its period.
  purchase_ref text not null,
  period_start timestamptz not null,
  micros bigint not null check (micros > 0),
  primary key (provider_id, pack_ref, purchase_ref, period_start),
  foreign key (provider_id, pack_ref) references packs (provider_id, purchase_ref),
  foreign key (provider_id, purchase_ref) references purchases (provider_id, reference)
);

-- Units to take back because a payment was refunded or disputed.
create table pack_claims (
  provider_id text not null,
  -- The processor's id of the refund or of the dispute.
  reference text not null,
  pack_ref text not null,
  claimed_at timestamptz not null,
  -- The amount in minor units of the payment's currency, and the units that it had bought.
  amount bigint not null check (amount >= 0),
  units_micros bigint not null check (units_micros >= 0),
  -- The units that were left and were taken back. Null: not settled yet.
  taken_micros bigint check (taken_micros between 0 and units_micros),
  primary key (provider_id, reference),
  foreign key (provider_id, pack_ref) references packs (provider_id, purchase_ref)
);

create index pack_claims_of_pack on pack_claims (provider_id, pack_ref);

create trigger audited after insert or update or delete on packs
  for each row execute function audit_row('purchase_ref', 'used_micros');
create trigger audited after insert or update or delete on pack_claims
  for each row execute function audit_row('reference');
