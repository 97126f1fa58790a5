-- Credits that come back to a wallet after a refund or dispute found too few.

-- The ledger transaction before the first attempt: later attempts take only credits of grants up to it. Null: not attempted yet.
alter table credit_take_backs add column grants_up_to_id bigint;
-- The number of postings after the first one.
alter table credit_take_backs add column retakes integer not null default 0 check (retakes >= 0);

update credit_take_backs as taken set grants_up_to_id = (
  select coalesce(max(posted.id), 0) from ledger_transactions as posted
  where posted.provider_id = taken.provider_id and posted.customer_ref = taken.customer_ref
    and posted.created_at <= taken.updated_at
) where taken_micros is not null;

create index credit_take_backs_short on credit_take_backs (provider_id, customer_ref)
  where not is_undone and taken_micros < credits * 1000000::numeric;
