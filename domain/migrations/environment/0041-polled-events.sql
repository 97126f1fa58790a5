-- How far the payment processor's own list of what happened was read, beside what it tells by webhooks.
-- Written by: control-plane.

create table processor_event_polls (
  is_only boolean primary key default true check (is_only),
  -- By the processor's clock. Everything that happened before is in the inbox.
  read_until timestamptz not null,
  -- When it is read again: put ahead by whoever reads it, so that one does.
  due_at timestamptz not null
);
