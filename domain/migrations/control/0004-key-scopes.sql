-- What a key may be used for. Keys from before may do everything, as they could.
-- Written by: control-plane.

alter table api_keys add column scopes text[] not null default '{ingest,read,manage,webhooks}'
  check (scopes <@ '{ingest,read,manage,webhooks}'::text[] and cardinality(scopes) > 0);
