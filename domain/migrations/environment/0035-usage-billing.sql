-- What is left to do about usage that is billed after the fact.
-- Written by: billing-runner. It shares purchases with control-plane: whoever changes one locks its row first.

alter table purchases
  -- Of one that has ended and whose last period is billed: when the usage of it that came late is billed, for the last time.
  add column usage_closes_at timestamptz;

drop trigger audited on purchases;
create trigger audited after insert or update or delete on purchases
  for each row execute function
    audit_row('reference', 'reminded_of,next_reset_at,next_usage_bill_at,usage_closes_at');

create index purchases_by_usage_close on purchases (usage_closes_at)
  where usage_closes_at is not null;

-- Made before the column was written: the start of the first period, which the first look takes for what it is, no end of
-- one. What was never converted from a trial has nothing to bill.
update purchases set next_usage_bill_at = start_date
where next_usage_bill_at is null
  and (plan_snapshot->>'type' = 'hybrid'
    or (plan_snapshot->>'type' = 'usage-based' and plan_snapshot->'terms'->>'billingModel' = 'post-paid'))
  and not (status = 'suspended' and paid_at is null);
