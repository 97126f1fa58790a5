-- Domain events, the endpoints that providers want them sent to, and what was sent there.
-- Written by: control-plane (events, endpoints, secrets, replays) and webhook-dispatcher (state of endpoints, deliveries,
-- attempts). The deliveries of an event are appended by whoever appends the event, in the same statement: see
-- `domain/src/outbox/repository.ts`.

-- Events are only appended, in the transaction of the change that they tell of.
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
  -- The customer whose personal data the event holds: it is erased with the customer. A column, because row-level security keeps
  -- the planner from an index over `->>`, which is not known to be leakproof.
  customer_ref text generated always as (
    case when type in ('customer.created', 'customer.updated') then object ->> 'id' end
  ) stored,
  -- The bytes of the envelope, the same for every attempt and every endpoint. Null: the personal data was erased, and the
  -- envelope is made from the other columns.
  body text,
  -- The customer that the event concerns, as its deliveries have it: what receivers answered is erased with the customer.
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
  -- None: all types, also those that are added later.
  enabled_events text[] not null default '{}',
  -- A deleted one stays until nothing that was sent to it is kept any more.
  status text not null default 'enabled' check (status in ('enabled', 'disabled', 'deleted')),
  -- `attempts` and `gone` by the dispatcher, `provider` by its owner.
  disabled_reason text check (disabled_reason in ('attempts', 'gone', 'provider')),
  disabled_at timestamptz,
  -- Failed attempts since the last that succeeded, and when the first of them began.
  failure_count int not null default 0,
  failing_since timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When its owner last had a test event sent, which is limited in frequency.
  tested_at timestamptz,
  -- Whether it is sent the links of customers' pages: whoever opens one acts as the customer. False: the address was set by a
  -- caller without the scope `manage`.
  sends_links boolean not null default true,
  primary key (provider_id, reference),
  check ((status = 'disabled') = (disabled_reason is not null and disabled_at is not null))
);

-- What deliveries are signed with, sealed: up to three live ones of an endpoint while they are rotated.
create table webhook_secrets (
  provider_id text not null,
  reference text not null unique,
  endpoint_ref text not null,
  secret text not null,
  -- Its signature is the first of the header: the only one that some receivers look at.
  signs_first boolean not null,
  created_at timestamptz not null,
  -- Signs no longer from then on; null: does not end.
  expires_at timestamptz,
  primary key (provider_id, reference),
  foreign key (provider_id, endpoint_ref) references webhook_endpoints (provider_id, reference)
    on delete cascade
);

create index webhook_secrets_of_endpoint on webhook_secrets (provider_id, endpoint_ref, created_at);
create unique index webhook_secrets_signing_first on webhook_secrets (provider_id, endpoint_ref) where signs_first;

-- The queue of record: one row for each event and each endpoint that receives it, and one for each time that it is sent anew.
-- No foreign keys: those would lock the endpoint's row for each event that is told.
create table webhook_deliveries (
  sequence bigint generated always as identity primary key,
  provider_id text not null,
  -- The same on every attempt: receivers know by it what they have had.
  reference text not null unique,
  endpoint_ref text not null,
  event_id text not null,
  event_type text not null,
  -- What is told of the same customer is first sent in the order in which it happened.
  order_key text,
  -- By which replay it was made; null: by the event itself.
  replay_ref text,
  -- Held: the endpoint is disabled. Skipped: the endpoint was deleted, or its owner did not want it any more.
  state text not null check (state in ('pending', 'held', 'succeeded', 'failed', 'skipped')),
  -- Attempts whose outcome is known.
  attempts smallint not null default 0,
  due_at timestamptz not null,
  -- Which claim the attempt under way is made by, and until when nobody else claims it; null: nobody has it.
  claim int not null default 0,
  leased_until timestamptz,
  -- Of the first attempt.
  first_attempt_at timestamptz,
  finished_at timestamptz,
  created_at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- First attempts have an index of their own, so that they are not found behind retries. `sequence + 0` is an order that this
-- index alone has: by `sequence` itself the planner may walk along the primary key, past all that was ever sent.
create index webhook_deliveries_new on webhook_deliveries (endpoint_ref, (sequence + 0))
  where state = 'pending' and attempts = 0;
create index webhook_deliveries_retried on webhook_deliveries (endpoint_ref, due_at, sequence)
  where state = 'pending' and attempts > 0;
create index webhook_deliveries_held on webhook_deliveries (endpoint_ref, sequence) where state = 'held';
create index webhook_deliveries_by_time on webhook_deliveries (provider_id, endpoint_ref, created_at, sequence);
create index webhook_deliveries_failed on webhook_deliveries (provider_id, endpoint_ref, created_at, sequence)
  where state = 'failed';
create index webhook_deliveries_of_event on webhook_deliveries (provider_id, event_id);

-- A replay that is taken up again sends nothing twice.
create unique index webhook_deliveries_of_replay on webhook_deliveries (replay_ref, endpoint_ref, event_id)
  where replay_ref is not null;

create table webhook_attempts (
  provider_id text not null,
  delivery_ref text not null,
  -- As receivers were told it: 1 to 12. One number stands twice where a process died, or lost its claim, in between.
  number smallint not null,
  claim int not null,
  -- A second try at once, with the signatures in the other order.
  is_reversed boolean not null,
  started_at timestamptz not null,
  duration_ms int not null,
  -- Until the connection stood, where one was made; until the head of the answer.
  connect_ms int,
  answer_ms int,
  -- Of the answer, where there was one.
  status smallint,
  -- Why there was none.
  error_class text,
  -- Up to 4 KiB of the answer's body.
  answer text,
  address text,
  -- The claim had run out and another was made: the outcome moved nothing.
  is_late boolean not null,
  primary key (provider_id, delivery_ref, claim, is_reversed)
) with (fillfactor = 100);

-- Requests to send again what was sent before: one row for each.
create table webhook_replays (
  provider_id text not null,
  reference text not null unique,
  endpoint_ref text not null,
  -- Of one delivery; null: of all those of the endpoint that were made in that time.
  delivery_ref text,
  -- Only those that were given up and are not sent otherwise.
  only_failed boolean not null,
  made_from timestamptz,
  made_before timestamptz not null,
  -- Stopped: the endpoint was deleted.
  state text not null check (state in ('running', 'finished', 'cancelled', 'stopped')),
  -- What was queued of it, and as far as which delivery. Both move together.
  queued int not null default 0,
  reached_at timestamptz not null default '-infinity',
  reached_sequence bigint not null default 0,
  -- When the next of it is queued.
  due_at timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  primary key (provider_id, reference),
  check ((state = 'running') = (finished_at is null))
);

create index webhook_replays_newest on webhook_replays (provider_id, created_at desc, reference);
create index webhook_replays_due on webhook_replays (due_at) where state = 'running';

-- A second one would send the same again.
create unique index webhook_replays_running on webhook_replays (provider_id, endpoint_ref) where state = 'running';

create trigger audited after insert or update or delete on webhook_endpoints
  for each row execute function audit_row('reference', 'failure_count,failing_since');

create trigger audited after insert or update or delete on webhook_secrets
  for each row execute function audit_row('reference');

create trigger audited after insert or update or delete on webhook_replays
  for each row execute function audit_row('reference', 'queued,reached_at,reached_sequence,due_at');

-- How far events `usage.recorded` were made of stored usage, of each partition of the log. It belongs to no provider, and to
-- this log alone.
create table usage_event_positions (
  log_partition integer primary key,
  next_offset bigint not null check (next_offset >= 0)
);

-- Erased customers for whose events the answers of receivers are still to be erased: they may be too many for one transaction.
create table answer_erasures (
  provider_id text not null,
  customer_ref text not null,
  -- The events up to this one were looked at.
  reached_sequence bigint not null default 0,
  due_at timestamptz not null,
  -- All of them are looked at again then, for answers that were on their way; null: this is that last time.
  again_at timestamptz,
  primary key (provider_id, customer_ref)
);

create index answer_erasures_due on answer_erasures (due_at);
