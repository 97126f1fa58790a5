-- Deleted customers are deleted at the payment processor as well. The row says so before the processor is asked, and goes
-- when it has done it.
-- Written by: control-plane.

alter table processor_customers
  -- When the processor is asked, or asked again, to forget them; null: they are customers.
  add column removal_due_at timestamptz,
  add column removal_tries int not null default 0,
  -- What was wrong the last time.
  add column removal_error text;

drop trigger audited on processor_customers;
create trigger audited after insert or update or delete on processor_customers
  for each row execute function audit_row('customer_ref', 'removal_due_at,removal_tries,removal_error');

create index processor_customers_to_remove on processor_customers (removal_due_at)
  where removal_due_at is not null;

-- Who was deleted before: their payments still say who they are there.
insert into processor_customers
  (provider_id, customer_ref, processor_customer_id, created_at, removal_due_at)
select distinct on (provider_id, customer_ref)
  provider_id, customer_ref, processor_customer_id, payment_intents.created_at, now()
from payment_intents join customers using (provider_id)
where customers.reference = customer_ref and customers.status = 'deleted'
order by provider_id, customer_ref, payment_intents.created_at desc
on conflict do nothing;
