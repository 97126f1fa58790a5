-- Domain events, the webhook endpoints of providers, and deliveries.
-- Written by: control-plane (events, endpoints, secrets, replays) and webhook-dispatcher (state of endpoints, deliveries,
-- attempts). The deliveries of an event are inserted by the same statement as the event: see `domain/src/outbox/repository.ts`.

-- Events are only appended, in the transaction of the change that they describe.
create table outbox (
  sequence bigint generated always as identity primary key,
  event_id text not null unique,
  provider_id text not null,
  type text not null,
  livemode boolean not null,
  -- `data.object` and `data.previous_attributes` of the delivered envelope.
  object jsonb not null,
  previous_attributes jsonb,
  request_id text,
  idempotency_key text,
  created_at timestamptz not null,
  -- The customer whose personal data the event contains. The data is erased with the customer. This is a column, because
  -- row-level security prevents the use of an index over `->>`, which is not known to be leakproof.
  customer_ref text generated always as (
    case when type in ('customer.created', 'customer.updated') then object ->> 'id' end
  ) stored,
  -- The bytes of the envelope, the same for every attempt and every endpoint. Null: the personal data was erased, and the
  -- envelope is built from the other columns.
  body text,
  -- The customer of the event, as in its deliveries. The responses of receivers are erased with the customer.
  order_key text generated always as (
    case when type in ('customer.created', 'customer.updated', 'customer.deleted') then object ->> 'id'
      else coalesce(object ->> 'customer', object ->> 'customerId', object ->> 'customerRef') end
  ) stored
);

create index outbox_of_provider on outbox (provider_id, sequence);
create index outbox_of_type on outbox (provider_id, type, sequence);
create index outbox_of_customer on outbox (provider_id, customer_ref) where customer_ref is not null;
create index outbox_of_order_key on outbox (provider_id, order_key, sequence) where order_key is not null;

create table webhook_endpoints (
  provider_id text not null,
  reference text not null unique,
  url text not null,
  -- Empty: all types, including types that are added later.
  enabled_events text[] not null default '{}',
  -- The row of a deleted endpoint remains until all its deliveries are deleted.
  status text not null default 'enabled' check (status in ('enabled', 'disabled', 'deleted')),
  -- `attempts` and `gone` are set by the dispatcher, `provider` by the provider.
  disabled_reason text check (disabled_reason in ('attempts', 'gone', 'provider')),
  disabled_at timestamptz,
  -- Number of failed attempts since the last success, and the start of the first of them.
  failure_count int not null default 0,
  failing_since timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When the last test event was sent. Test events are limited in frequency.
  tested_at timestamptz,
  -- Whether events for it contain links of customers' pages. Everyone who opens such a link acts as the customer. False: the
  -- URL was set by a caller without the scope `manage`.
  sends_links boolean not null default true,
  primary key (provider_id, reference),
  check ((status = 'disabled') = (disabled_reason is not null and disabled_at is not null))
);

-- Encrypted signing secrets: up to three active ones per endpoint during a rotation.
create table webhook_secrets (
  provider_id text not null,
  reference text not null unique,
  endpoint_ref text not null,
  secret text not null,
  -- Whether its signature is the first in the header. Some receivers only check the first one.
  signs_first boolean not null,
  created_at timestamptz not null,
  -- End of its use. Null: it has no end.
  expires_at timestamptz,
  primary key (provider_id, reference),
  foreign key (provider_id, endpoint_ref) references webhook_endpoints (provider_id, reference)
    on delete cascade
);

create index webhook_secrets_of_endpoint on webhook_secrets (provider_id, endpoint_ref, created_at);
create unique index webhook_secrets_signing_first on webhook_secrets (provider_id, endpoint_ref) where signs_first;

-- The delivery queue: one row per event and endpoint, and one for each replay. It has no foreign keys, because they would lock
-- the endpoint's row for each event.
create table webhook_deliveries (
  sequence bigint generated always as identity primary key,
  provider_id text not null,
  -- The same on every attempt, so that receivers can detect duplicates.
  reference text not null unique,
  endpoint_ref text not null,
  event_id text not null,
  event_type text not null,
  -- Events of the same customer are first sent in the order in which they happened.
  order_key text,
  -- The replay that created the delivery. Null: the event itself created it.
  replay_ref text,
  -- Held: the endpoint is disabled. Skipped: the endpoint was deleted, or the provider skipped it.
  state text not null check (state in ('pending', 'held', 'succeeded', 'failed', 'skipped')),
  -- Number of attempts with a known outcome.
  attempts smallint not null default 0,
  due_at timestamptz not null,
  -- The claim of the current attempt, and the end of its lease. Null: it is not claimed.
  claim int not null default 0,
  leased_until timestamptz,
  -- Time of the first attempt.
  first_attempt_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- First attempts have their own index, so that retries do not delay them. Only this index has the order `sequence + 0`. With
-- `sequence` itself, the planner could scan the primary key, which contains all deliveries.
create index webhook_deliveries_new on webhook_deliveries (endpoint_ref, (sequence + 0))
  where state = 'pending' and attempts = 0;
create index webhook_deliveries_retried on webhook_deliveries (endpoint_ref, due_at, sequence)
  where state = 'pending' and attempts > 0;
create index webhook_deliveries_held on webhook_deliveries (endpoint_ref, sequence) where state = 'held';
create index webhook_deliveries_by_time on webhook_deliveries (provider_id, endpoint_ref, created_at, sequence);
create index webhook_deliveries_failed on webhook_deliveries (provider_id, endpoint_ref, created_at, sequence)
  where state = 'failed';
create index webhook_deliveries_of_event on webhook_deliveries (provider_id, event_id);

-- A replay that is continued sends no delivery twice.
create unique index webhook_deliveries_of_replay on webhook_deliveries (replay_ref, endpoint_ref, event_id)
  where replay_ref is not null;

create table webhook_attempts (
  provider_id text not null,
  delivery_ref text not null,
  -- The number that was sent to the receiver: 1 to 12. A number occurs twice if a process died or lost its claim.
  number smallint not null,
  claim int not null,
  -- An immediate second attempt with the signatures in the other order.
  is_reversed boolean not null,
  started_at timestamptz not null,
  duration_ms int not null,
  -- Time until the connection was established, if it was a new one; time until the head of the response.
  connect_ms int,
  answer_ms int,
  -- Status of the response, if any.
  status smallint,
  -- Why there was no response.
  error_class text,
  -- Up to 4 KiB of the response body.
  answer text,
  address text,
  -- The claim had expired and another one was made, so the outcome changed nothing.
  is_late boolean not null,
  primary key (provider_id, delivery_ref, claim, is_reversed)
) with (fillfactor = 100);

-- Replays: requests to send earlier events again.
create table webhook_replays (
  provider_id text not null,
  reference text not null unique,
  endpoint_ref text not null,
  -- The replayed delivery. Null: all deliveries of the endpoint in the time range.
  delivery_ref text,
  -- Only deliveries that were given up and did not succeed otherwise.
  only_failed boolean not null,
  made_from timestamptz,
  made_before timestamptz not null,
  -- Stopped: the endpoint was deleted.
  state text not null check (state in ('running', 'finished', 'cancelled', 'stopped')),
  -- Number of queued deliveries, and the last delivery that was processed. Both change together.
  queued int not null default 0,
  reached_at timestamptz not null default '-infinity',
  reached_sequence bigint not null default 0,
  -- When the next batch is queued.
  due_at timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  primary key (provider_id, reference),
  check ((state = 'running') = (finished_at is null))
);

create index webhook_replays_newest on webhook_replays (provider_id, created_at desc, reference);
create index webhook_replays_due on webhook_replays (due_at) where state = 'running';

-- A second replay would send the same events again.
create unique index webhook_replays_running on webhook_replays (provider_id, endpoint_ref) where state = 'running';

create trigger audited after insert or update or delete on webhook_endpoints
  for each row execute function audit_row('reference', 'failure_count,failing_since');

create trigger audited after insert or update or delete on webhook_secrets
  for each row execute function audit_row('reference');

create trigger audited after insert or update or delete on webhook_replays
  for each row execute function audit_row('reference', 'queued,reached_at,reached_sequence,due_at');

-- The position up to which `usage.recorded` was emitted for stored usage, per partition of the log. It belongs to no provider,
-- and is only valid for this log.
create table usage_event_positions (
  log_partition integer primary key,
  next_offset bigint not null check (next_offset >= 0)
);

-- Erased customers whose responses of receivers must still be erased. They may be too many for one transaction.
create table answer_erasures (
  provider_id text not null,
  customer_ref text not null,
  -- The events up to this one are processed.
  reached_sequence bigint not null default 0,
  due_at timestamptz not null,
  -- Time of a second pass over all of them, for responses that were in transit. Null: this is the second pass.
  again_at timestamptz,
  primary key (provider_id, customer_ref)
);

create index answer_erasures_due on answer_erasures (due_at);
