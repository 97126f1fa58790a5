-- Events of the payment processor after payments: refunds, disputes and payouts, and their effects.
-- Written by: control-plane and billing-runner.

-- The inbox: objects that have changed. Their state is read from the processor, so nothing else is stored.
create table processor_events (
  event_id text primary key,
  type text not null,
  -- Null: an object that Tollgate does not follow.
  object_kind text,
  object_id text not null,
  received_at timestamptz not null,
  -- Earliest time of processing. A worker moves it into the future while it processes the row, so that the row becomes due
  -- again if the worker dies.
  due_at timestamptz not null,
  tries int not null default 0,
  last_error text,
  settled_at timestamptz
);

create index processor_events_due on processor_events (due_at) where settled_at is null;
create index processor_events_oldest on processor_events (settled_at) where settled_at is not null;

-- The position up to which the processor's event list was read, in addition to its webhooks.
create table processor_event_polls (
  is_only boolean primary key default true check (is_only),
  -- By the processor's clock. All earlier events are in the inbox.
  read_until timestamptz not null,
  -- Time of the next reading. A process moves it into the future when it reads the list, so that only one process reads.
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
  -- Part of `amount`: tax that is no longer owed.
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
  -- The processor's own status.
  status text not null,
  reason text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The processor's id of the payment method that had paid.
  payment_method_id text,
  -- Number of movements of money for the dispute in the last state that was read. A state with fewer movements is older. Null:
  -- unknown, and the dispute does not affect access.
  movements integer,
  -- The purchase of the payment is suspended and its card is not charged, because the dispute is lost, or open if the provider
  -- chose that.
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

-- Credits whose payment was refunded. They are removed from the wallet as far as available, and restored if the money returns.
-- Processed by: control-plane, which has access to hot state.
create table credit_take_backs (
  provider_id text not null,
  -- The processor's id of the refund or the dispute.
  reference text not null,
  cause text not null check (cause in ('refund', 'dispute')),
  intent_ref text not null,
  customer_ref text not null,
  -- The amount in minor units of the payment's currency, and the whole credits that it had bought.
  amount bigint not null check (amount >= 0),
  credits bigint not null check (credits >= 0),
  -- The refund failed after it had succeeded, or the dispute was won.
  is_undone boolean not null default false,
  -- The credits that could be removed, in 10^-6 credits. Null: not attempted yet.
  taken_micros numeric(38, 0) check (taken_micros between 0 and credits * 1000000),
  given_back_at timestamptz,
  -- Earliest time of the next removal or restoration. Null: nothing is left to do.
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

-- Earnings of each product, and the number of its payments. A payment inserts a movement, and a job sums movements into one row
-- per product, so that payments of one product never wait for each other. The total is the sum of both.
-- Written by: the triggers below, with the rights of the service that changes a payment; `product_tallies` by the control
-- plane's payment job.
create table product_movements (
  id bigint generated always as identity primary key,
  provider_id text not null,
  product_ref text not null,
  -- US cents. Negative for refunds.
  amount bigint not null,
  -- Number of payments that succeeded.
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

-- The remaining amount of a payment in US cents after the given part of the original amount was returned. It is rounded once,
-- half away from zero, so that the returned parts add up to the payment.
create function payment_left(amount bigint, original bigint, gone numeric) returns bigint
language sql immutable as $$
  select (amount - div(2 * amount::numeric * gone + original, 2 * original::numeric))::bigint
$$;

-- The returned amount of a payment, in minor units of its currency: refunded, or withdrawn by the bank and not reinstated.
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

-- The arguments are the statuses in which the amount of the row is returned. Every change of such a row locks the payment
-- first.
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

-- A payment that could not be fulfilled is refunded, and does not count as a transaction.
create trigger moves_product after update of status on payment_intents
  for each row when (
    new.status = 'succeeded' and old.status <> 'succeeded'
    and new.failure_reason is null and new.product_ref is not null
  ) execute function move_paid_product();
create trigger moves_product after insert or update of status on payment_refunds
  for each row execute function move_product_back('succeeded');
create trigger moves_product after insert or update of status on payment_disputes
  for each row execute function move_product_back('needs_response', 'under_review', 'lost');
