-- Which customer an event tells of, as its deliveries have it: what receivers answered to them is erased with the customer.
-- Events of before webhooks were sent to nobody.
-- Written by: whoever appends events.

alter table outbox add column order_key text;
update outbox set order_key = delivery.order_key
  from webhook_deliveries delivery where delivery.event_id = outbox.event_id and delivery.order_key is not null;
create index outbox_of_order_key on outbox (provider_id, order_key, sequence) where order_key is not null;
