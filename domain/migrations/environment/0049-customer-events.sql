-- Of which customer an event tells who it is: such events are erased with the customer. A column, because row-level security
-- keeps the planner from an index over `->>`, which is not known to be leakproof. Rewrites the table.
alter table outbox add column customer_ref text generated always as (
  case when type in ('customer.created', 'customer.updated') then object ->> 'id' end
) stored;

drop index outbox_of_customer;
create index outbox_of_customer on outbox (provider_id, customer_ref) where customer_ref is not null;
