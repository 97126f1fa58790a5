-- Moves of purchases on trial, and of purchases that begin with older terms after a migration of their plan was created; holds of coupons
-- and discounts of periods.
-- Written by: control-plane and billing-runner, which schedule changes and make invoices.

alter table purchases
  -- When the terms of `scheduled_plan` were those of the plan. Null: unknown, for changes from before this was stored.
  add column scheduled_terms_at timestamptz,
  -- When the terms were those of the plan. Null: when the purchase was created.
  add column terms_at timestamptz;

-- A trial changes its plan before it ends, too.
drop index purchases_by_scheduled_change;
create index purchases_by_scheduled_change on purchases (scheduled_plan_at)
  where scheduled_plan_billing is not null and status in ('active', 'trialing');

-- The redemptions that wait for a payment are counted by coupon.
create index coupon_holds_of_coupon on coupon_holds (provider_id, coupon_ref, expires_at);
create index coupon_holds_of_intent on coupon_holds (provider_id, intent_ref);

alter table discounted_periods
  -- What the discount took off other lines of the same invoice, such as a set-up fee. Minor units of the purchase's currency.
  add column elsewhere numeric(38, 0) not null default 0 check (elsewhere >= 0);
