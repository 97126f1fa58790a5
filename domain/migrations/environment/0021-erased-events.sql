-- The events that tell who a customer is, by customer: they are erased with it.
create index outbox_of_customer on outbox (provider_id, (object ->> 'id'))
  where type in ('customer.created', 'customer.updated');
