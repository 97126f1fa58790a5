-- What is charged when, and what becomes of a charge that failed.
-- Written by: billing-runner and control-plane. Whoever changes a purchase locks its row first.

alter table purchases
  -- Charges in a row that failed for the period that is due, and when the next one is tried.
  add column retry_count smallint not null default 0 check (retry_count >= 0),
  add column next_retry_at timestamptz,
  -- The end of the first period whose usage is not billed yet. Null: usage is not billed, or all of it was.
  add column next_usage_bill_at timestamptz;

drop trigger audited on purchases;
create trigger audited after insert or update or delete on purchases
  for each row execute function audit_row('reference', 'reminded_of,next_reset_at,next_usage_bill_at');

-- The start of the first period, which the first look takes for what it is: no end of one.
update purchases set next_usage_bill_at = start_date
where plan_snapshot->>'type' = 'hybrid'
  or (plan_snapshot->>'type' = 'usage-based' and plan_snapshot->'terms'->>'billingModel' = 'post-paid');

create index purchases_by_retry on purchases (next_retry_at) where status = 'past_due';
-- A purchase that ended within a period is billed for what there was of it.
create index purchases_by_usage_bill on purchases (least(next_usage_bill_at, ended_at))
  where next_usage_bill_at is not null and status not in ('pending', 'trialing', 'refunded');
