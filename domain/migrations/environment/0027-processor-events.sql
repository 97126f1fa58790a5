-- What the payment processor tells us of, and what became of money after it was paid.
-- Written by: control-plane and billing-runner.

-- The inbox: which object something happened to. What happened is asked of the processor, so nothing else is kept.
create table processor_events (
  event_id text primary key,
  type text not null,
  -- Null: nothing that we follow.
  object_kind text,
  object_id text not null,
  received_at timestamptz not null,
  -- When it is worked on, at the earliest: put ahead by whoever works on it, so that it comes back should they die.
  due_at timestamptz not null,
  tries int not null default 0,
  last_error text,
  settled_at timestamptz
);

create index processor_events_due on processor_events (due_at) where settled_at is null;
create index processor_events_oldest on processor_events (settled_at) where settled_at is not null;

create table payment_refunds (
  provider_id text not null,
  processor_refund_id text not null unique,
  intent_ref text not null,
  amount bigint not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  status text not null check (status in ('pending', 'succeeded', 'failed', 'canceled')),
  reason text,
  failure_reason text,
  -- Whole credits that it took from the wallet, where it pays back a top-up.
  credits_taken bigint check (credits_taken >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, processor_refund_id),
  foreign key (provider_id, intent_ref) references payment_intents (provider_id, reference)
);

create index payment_refunds_of_intent on payment_refunds (provider_id, intent_ref);

create table payment_disputes (
  provider_id text not null,
  processor_dispute_id text not null unique,
  intent_ref text not null,
  processor_charge_id text not null,
  amount bigint not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- The processor's own words.
  status text not null,
  reason text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, processor_dispute_id),
  foreign key (provider_id, intent_ref) references payment_intents (provider_id, reference)
);

create table payouts (
  provider_id text not null,
  processor_payout_id text not null unique,
  amount bigint not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  status text not null check (status in ('pending', 'in_transit', 'paid', 'failed', 'canceled')),
  arrival_date timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, processor_payout_id)
);

create trigger audited after insert or update or delete on payment_refunds
  for each row execute function audit_row('processor_refund_id');
create trigger audited after insert or update or delete on payment_disputes
  for each row execute function audit_row('processor_dispute_id');
create trigger audited after insert or update or delete on payouts
  for each row execute function audit_row('processor_payout_id');
