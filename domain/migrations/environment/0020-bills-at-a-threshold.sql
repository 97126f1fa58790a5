-- Plans that bill within a period, whenever unbilled usage reaches an amount.
-- Written by: control-plane inserts crossings, billing-runner bills them.

alter table purchases
  -- Up to when a bill within a period has charged its usage. Moved forward by each such bill, and by nothing else, so that a bill
  -- that was measured before another one is recognised. Null: there was no bill within a period.
  add column usage_billed_to timestamptz,
  -- The start of the period of that bill, and the units (10^-6) at which the period's unbilled usage reaches the plan's
  -- `maxUnbilledMinor` again. Null: that plan has no such limit.
  add column unbilled_raised_from timestamptz,
  add column unbilled_raised_micros bigint check (unbilled_raised_micros >= 0);

-- Each usage of these customers is compared with the amount.
create index purchases_billed_at_threshold on purchases (provider_id, customer_ref)
  where next_usage_bill_at is not null and plan_snapshot->'terms'->>'billAtUnbilledMinor' is not null;

-- Columns that bills write are not audited here: the invoice is.
drop trigger audited on purchases;
create trigger audited after insert or update or delete on purchases
  for each row execute function
    audit_row('reference',
      'reminded_of,next_reset_at,next_usage_bill_at,usage_closes_at,carried_into,carried_over_micros,carry_settles_at,'
      'usage_billed_to,unbilled_raised_from,unbilled_raised_micros');

-- Purchases whose unbilled usage was found to have reached the amount. The runner sums it up again before it makes a bill.
create table threshold_crossings (
  provider_id text not null,
  purchase_ref text not null,
  noted_at timestamptz not null,
  -- Increased when the amount is found again, so that a crossing that was noted during a bill is not removed with it.
  version bigint not null default 1,
  -- Without a foreign key, which would lock the purchase after the check of the customer: a sale locks them in the other order.
  primary key (provider_id, purchase_ref)
);

create index threshold_crossings_due on threshold_crossings (noted_at);
