-- First attempts are not found behind retries: each have an index of their own to be claimed from.
-- Written by: see 0060-webhooks.sql.

drop index webhook_deliveries_due;
create index webhook_deliveries_new on webhook_deliveries (endpoint_ref, sequence)
  where state = 'pending' and attempts = 0;
create index webhook_deliveries_retried on webhook_deliveries (endpoint_ref, due_at, sequence)
  where state = 'pending' and attempts > 0;
