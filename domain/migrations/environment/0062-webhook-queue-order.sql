-- First attempts are claimed in an order that this index alone has. By `sequence` itself the server may walk along the primary
-- key, past all that was ever sent, until it meets an endpoint's next.
-- Written by: see 0060-webhooks.sql.

drop index webhook_deliveries_new;
create index webhook_deliveries_new on webhook_deliveries (endpoint_ref, (sequence + 0))
  where state = 'pending' and attempts = 0;
