-- What was sent is looked through by time, and sent anew when its owner asks for it.
-- Written by: control-plane. Deliveries of a replay are appended by the control plane as well.

drop index webhook_deliveries_newest;
create index webhook_deliveries_by_time on webhook_deliveries (provider_id, endpoint_ref, created_at, sequence);
create index webhook_deliveries_failed on webhook_deliveries (provider_id, endpoint_ref, created_at, sequence)
  where state = 'failed';

-- One row for each time that somebody asked.
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

create trigger audited after insert or update or delete on webhook_replays
  for each row execute function audit_row('reference', 'queued,reached_at,reached_sequence,due_at');
