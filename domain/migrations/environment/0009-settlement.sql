-- What the payment processor tells of payments after they were made: refunds, disputes and payouts, and what follows from them.
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

-- How far the processor's own list of events was read, beside what it tells by webhooks.
create table processor_event_polls (
  is_only boolean primary key default true check (is_only),
  -- By the processor's clock. Everything that happened before is in the inbox.
  read_until timestamptz not null,
  -- When it is read again: put ahead by whoever reads it, so that one does.
  due_at timestamptz not null
);

create table payment_refunds (
  provider_id text not null,
  processor_refund_id text not null unique,
  intent_ref text not null,
  amount bigint not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  status text not null check (status in ('pending', 'succeeded', 'failed', 'canceled')),
  reason text,
  failure_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Of `amount`: tax that is not owed any more.
  tax bigint not null default 0 check (tax between 0 and amount),
  primary key (provider_id, processor_refund_id),
  foreign key (provider_id, intent_ref) references payment_intents (provider_id, reference)
);

create index payment_refunds_of_intent on payment_refunds (provider_id, intent_ref);
create index payment_refunds_made on payment_refunds (created_at);

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
  -- The means of payment that had paid, by the processor's id.
  payment_method_id text,
  -- How often the processor had moved money for it when it was last looked at: a look with fewer movements is an older one.
  -- Null: this is not known, and the dispute takes no access away.
  movements integer,
  -- What the payment paid for is suspended, and its card is not charged: the dispute is lost, or open where the provider wants
  -- it so.
  takes_access boolean not null default false,
  primary key (provider_id, processor_dispute_id),
  foreign key (provider_id, intent_ref) references payment_intents (provider_id, reference)
);

create index payment_disputes_of_intent on payment_disputes (provider_id, intent_ref);
create index payment_disputes_of_card on payment_disputes (provider_id, payment_method_id)
  where takes_access;
create index payment_disputes_made on payment_disputes (created_at);

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

create index payouts_made on payouts (created_at);

-- Credits for which money was paid back. They are taken out of the wallet as far as they are there, and given back if the money
-- comes back. Worked off by: control-plane, which reaches the hot state.
create table credit_take_backs (
  provider_id text not null,
  -- The processor's, of the refund or the dispute.
  reference text not null,
  cause text not null check (cause in ('refund', 'dispute')),
  intent_ref text not null,
  customer_ref text not null,
  -- Minor units of the payment's currency, and the whole credits that these had bought.
  amount bigint not null check (amount >= 0),
  credits bigint not null check (credits >= 0),
  -- The refund failed after it had succeeded, or the dispute was won.
  is_undone boolean not null default false,
  -- What was there to be taken, 10^-6 credits; null: not tried yet.
  taken_micros numeric(38, 0) check (taken_micros between 0 and credits * 1000000),
  given_back_at timestamptz,
  -- When somebody is to take or to give back, at the earliest; null: both are done, as far as they are wanted.
  due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference),
  foreign key (provider_id, intent_ref) references payment_intents (provider_id, reference),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index credit_take_backs_of_intent on credit_take_backs (provider_id, intent_ref);
create index credit_take_backs_due on credit_take_backs (due_at) where due_at is not null;

create trigger audited after insert or update or delete on payment_refunds
  for each row execute function audit_row('processor_refund_id');

create trigger audited after insert or update or delete on payment_disputes
  for each row execute function audit_row('processor_dispute_id');

create trigger audited after insert or update or delete on payouts
  for each row execute function audit_row('processor_payout_id');

create trigger audited after insert or update or delete on credit_take_backs
  for each row execute function audit_row('reference', 'due_at');

-- What each product has earned, and by how many payments. A payment adds a movement, and a job folds movements into one row for
-- each product, so that payments of one product never wait for each other. The figure is the sum of both.
-- Written by: the triggers below, as whoever changes a payment; `product_tallies` by the control plane's payment job.
create table product_movements (
  id bigint generated always as identity primary key,
  provider_id text not null,
  product_ref text not null,
  -- US cents: below nothing for what went back.
  amount bigint not null,
  -- Payments that succeeded with it.
  payments integer not null
);

create index product_movements_of_product on product_movements (provider_id, product_ref);

create table product_tallies (
  provider_id text not null,
  product_ref text not null,
  balance bigint not null,
  payments bigint not null,
  primary key (provider_id, product_ref)
);

-- What is left of a payment in US cents when so much of the original amount went back. Rounded once, half away from zero,
-- so that the parts that go back add up to the payment.
create function payment_left(amount bigint, original bigint, gone numeric) returns bigint
language sql immutable as $$
  select (amount - div(2 * amount::numeric * gone + original, 2 * original::numeric))::bigint
$$;

-- What went back of a payment, in minor units of its currency: paid back, or taken by the bank and not returned.
create function payment_gone(provider text, intent text) returns numeric language sql stable as $$
  select coalesce((
      select sum(amount) from payment_refunds
      where provider_id = provider and intent_ref = intent and status = 'succeeded'), 0)
    + coalesce((
      select sum(amount) from payment_disputes
      where provider_id = provider and intent_ref = intent
        and status in ('needs_response', 'under_review', 'lost')), 0)
$$;

create function move_paid_product() returns trigger language plpgsql as $$
begin
  insert into product_movements (provider_id, product_ref, amount, payments)
  values (new.provider_id, new.product_ref, payment_left(
    new.amount, new.original_amount, payment_gone(new.provider_id, new.reference)), 1);
  return null;
end $$;

-- The arguments are the statuses in which the row's amount is gone. Whoever changes such a row has locked the payment.
create function move_product_back() returns trigger language plpgsql as $$
declare
  paid record;
  gone numeric;
  was_gone numeric;
begin
  select product_ref, amount, original_amount into paid from payment_intents
  where provider_id = new.provider_id and reference = new.intent_ref
    and status = 'succeeded' and failure_reason is null and product_ref is not null;
  if not found then
    return null;
  end if;
  gone := payment_gone(new.provider_id, new.intent_ref);
  was_gone := gone - case when new.status = any (tg_argv) then new.amount else 0 end;
  if tg_op = 'UPDATE' and old.status = any (tg_argv) then
    was_gone := was_gone + old.amount;
  end if;
  insert into product_movements (provider_id, product_ref, amount, payments)
  select new.provider_id, paid.product_ref, change, 0
  from (
    select payment_left(paid.amount, paid.original_amount, gone)
      - payment_left(paid.amount, paid.original_amount, was_gone) as change
  ) as moved
  where change <> 0;
  return null;
end $$;

-- What pays for nothing that could be given goes back, and is no transaction.
create trigger moves_product after update of status on payment_intents
  for each row when (
    new.status = 'succeeded' and old.status <> 'succeeded'
    and new.failure_reason is null and new.product_ref is not null
  ) execute function move_paid_product();
create trigger moves_product after insert or update of status on payment_refunds
  for each row execute function move_product_back('succeeded');
create trigger moves_product after insert or update of status on payment_disputes
  for each row execute function move_product_back('needs_response', 'under_review', 'lost');
