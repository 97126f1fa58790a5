-- Coupons, and the discounts that customers have by them.
-- Written by: control-plane and billing-runner.

alter table invoice_lines drop constraint invoice_lines_kind_check;
alter table invoice_lines add constraint invoice_lines_kind_check check (kind in (
  'recurring', 'setup_fee', 'one_time', 'credits', 'usage', 'late_usage', 'minimum', 'proration', 'discount', 'item',
  'tax', 'carried_in'
)) not valid;
alter table invoice_lines validate constraint invoice_lines_kind_check;

create table coupons (
  provider_id text not null,
  reference text not null unique,
  -- What customers type, in upper case. Null: the coupon is only given by the provider.
  code text check (code = upper(code)),
  -- Printed on invoices.
  name text not null,
  -- Exactly one of both: a percentage, or an amount in minor units of the currency.
  percent_off numeric(5, 2) check (percent_off > 0 and percent_off <= 100),
  amount_off bigint check (amount_off > 0),
  currency text check (currency ~ '^[A-Z]{3}$'),
  duration text not null check (duration in ('once', 'repeating', 'forever')),
  -- Number of invoices that it discounts. Null for a coupon without an end.
  duration_invoices integer check (duration_invoices > 0),
  -- References of the products and plans in scope. Empty: all.
  product_refs text[] not null,
  plan_refs text[] not null,
  -- Null: any number.
  redemptions_max integer check (redemptions_max > 0),
  redemptions_per_customer_max integer check (redemptions_per_customer_max > 0),
  -- Last instant at which it can be redeemed.
  redeem_by timestamptz,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference),
  unique (provider_id, code),
  check ((percent_off is null) <> (amount_off is null)),
  check ((amount_off is null) = (currency is null)),
  check ((duration = 'forever') = (duration_invoices is null)),
  check (duration <> 'once' or duration_invoices = 1)
);

create index coupons_newest on coupons (provider_id, created_at desc, reference);

-- A coupon that a customer has redeemed. Redemptions lock the row of the coupon, so that its limits are exact.
create table discounts (
  provider_id text not null,
  reference text not null unique,
  coupon_ref text not null,
  customer_ref text not null,
  -- The purchase whose invoices it discounts. It moves to the purchase that replaces this one. Null: all of the customer.
  purchase_ref text,
  -- Null: no end.
  invoices_left integer check (invoices_left >= 0),
  -- When it was removed.
  removed_at timestamptz,
  redeemed_by text not null,
  created_at timestamptz not null,
  primary key (provider_id, reference),
  foreign key (provider_id, coupon_ref) references coupons (provider_id, reference),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index discounts_of_coupon on discounts (provider_id, coupon_ref, customer_ref);
create index discounts_of_customer on discounts (provider_id, customer_ref)
  where removed_at is null and invoices_left is distinct from 0;

-- A redemption that waits for its payment. It counts against the limits until the payment ends or expires.
create table coupon_holds (
  provider_id text not null,
  coupon_ref text not null,
  customer_ref text not null,
  intent_ref text not null,
  expires_at timestamptz not null,
  primary key (provider_id, coupon_ref, customer_ref),
  foreign key (provider_id, coupon_ref) references coupons (provider_id, reference)
);

-- What discounts took off the price of a period, by which a change of plan within the period is prorated.
create table discounted_periods (
  provider_id text not null,
  purchase_ref text not null,
  period_start timestamptz not null,
  discount_ref text not null,
  -- Minor units of the purchase's currency, for the whole period.
  amount numeric(38, 0) not null check (amount >= 0),
  primary key (provider_id, purchase_ref, period_start, discount_ref),
  foreign key (provider_id, discount_ref) references discounts (provider_id, reference)
    deferrable initially deferred
);

alter table payment_intents
  -- [{"discountRef", "couponRef", "isNew", "inputs", "description"}]: the discounts of a sale.
  add column discounts jsonb check (jsonb_typeof(discounts) = 'array');

alter table checkout_sessions
  -- The coupon that the checkout redeems.
  add column coupon_ref text;

create trigger audited after insert or update or delete on coupons
  for each row execute function audit_row('reference');

-- Invoices use discounts up, which their own lines show.
create trigger audited after insert or update or delete on discounts
  for each row execute function audit_row('reference', 'invoices_left');
