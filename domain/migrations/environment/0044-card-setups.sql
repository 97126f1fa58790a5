-- Cards that customers began to enter to have them kept, at the payment processor: each is taken over once, in whatever
-- order, and however often, the processor tells of it.
-- Written by: control-plane and billing-runner. Whoever ends one locks its row first.

create table card_setups (
  provider_id text not null,
  setup_intent_id text not null unique,
  customer_ref text not null,
  created_at timestamptz not null,
  -- When its card was taken over, or nothing could come of it any more.
  ended_at timestamptz,
  primary key (provider_id, setup_intent_id),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index card_setups_open on card_setups (created_at) where ended_at is null;

create trigger audited after insert or update or delete on card_setups
  for each row execute function audit_row('setup_intent_id');
