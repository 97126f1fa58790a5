-- Which customer an event tells of, as its deliveries have it: what receivers answered to them is erased with the customer.
-- Generated, so that writers of the version before, which may still run, leave none out. Rewrites the table.

alter table outbox add column order_key text generated always as (
  case when type in ('customer.created', 'customer.updated', 'customer.deleted') then object ->> 'id'
    else coalesce(object ->> 'customer', object ->> 'customerId', object ->> 'customerRef') end
) stored;

create index outbox_of_order_key on outbox (provider_id, order_key, sequence) where order_key is not null;
