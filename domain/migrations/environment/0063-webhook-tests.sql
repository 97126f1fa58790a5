-- When the owner of an endpoint last had a test event sent there: a receiver is sent no more of them than it can be asked for.
-- Written by: control-plane.

alter table webhook_endpoints add column tested_at timestamptz;
