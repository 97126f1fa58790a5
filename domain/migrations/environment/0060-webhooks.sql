-- Where providers want to be told what happens, and what was sent there.
-- Written by: control-plane (endpoints, secrets) and webhook-dispatcher (how endpoints do, deliveries, attempts). Deliveries of
-- an event are appended by whoever appends the event, in the same statement: see `domain/src/outbox/repository.ts`.

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

create index webhook_deliveries_due on webhook_deliveries (endpoint_ref, due_at, sequence) where state = 'pending';
create index webhook_deliveries_held on webhook_deliveries (endpoint_ref, sequence) where state = 'held';
create index webhook_deliveries_newest on webhook_deliveries (provider_id, endpoint_ref, sequence desc);
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

create trigger audited after insert or update or delete on webhook_endpoints
  for each row execute function audit_row('reference', 'failure_count,failing_since');
create trigger audited after insert or update or delete on webhook_secrets
  for each row execute function audit_row('reference');

-- The bytes of the envelope, the same for every attempt and every endpoint. Null where the event is older than this column,
-- or its customer was erased since: they are made from the other columns then.
alter table outbox add column body text;
