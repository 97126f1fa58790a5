-- Domain events waiting for delivery.
-- Written by: control-plane, which only appends, in the transaction of the change that the event tells about.

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
  created_at timestamptz not null
);

create index outbox_of_provider on outbox (provider_id, sequence);
