-- What the console's lists are searched and sorted by. Prefixes are looked for as ranges of bytes, with operators that are
-- known to be leakproof: LIKE is not, and row level security would keep it out of every index.

alter table customers add column name_key text generated always as (lower(name)) stored;

create index customers_newest on customers (provider_id, created_at desc, reference) where status = 'active';
create index customers_by_email on customers (provider_id, email_key text_pattern_ops) where status = 'active';
create index customers_by_name on customers (provider_id, name_key text_pattern_ops) where status = 'active';
create index customer_references_by_prefix on customer_references (provider_id, reference text_pattern_ops)
  where released_at is null;

create index purchases_of_plan on purchases (provider_id, plan_ref, start_date desc);
create index purchases_by_status on purchases (provider_id, status, start_date desc);

create index outbox_of_type on outbox (provider_id, type, sequence);
