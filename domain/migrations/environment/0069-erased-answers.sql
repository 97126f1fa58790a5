-- Customers who were erased, and what their events' receivers answered still is to be: usage alone may be too many of them for
-- one transaction.
-- Written by: control-plane.

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
