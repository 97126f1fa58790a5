-- What customers are asked to pay, and every call to the payment processor about it.
-- Written by: control-plane and billing-runner. Whoever changes a payment intent locks its row first.

-- The id of each customer at the payment processor. A deleted customer is deleted there as well: the row says so before the
-- processor is asked, and is removed when the processor has done it.
create table processor_customers (
  provider_id text not null,
  customer_ref text not null,
  processor_customer_id text not null unique,
  created_at timestamptz not null,
  -- When the processor is asked, or asked again, to delete the customer. Null: it is not.
  removal_due_at timestamptz,
  removal_tries int not null default 0,
  -- Why the last try failed.
  removal_error text,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index processor_customers_to_remove on processor_customers (removal_due_at)
  where removal_due_at is not null;

-- The card that a customer is charged on, as the payment processor told of it after the last successful payment; never the
-- card itself.
create table customer_cards (
  provider_id text not null,
  customer_ref text not null,
  brand text not null,
  last4 text not null check (last4 ~ '^[0-9]{4}$'),
  exp_month int not null check (exp_month between 1 and 12),
  exp_year int not null,
  -- Whether it may be charged again without its holder, or is only on file.
  reusable boolean not null,
  payment_method_id text,
  updated_at timestamptz not null,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

-- Cards that customers began to enter to have them kept. Each is taken over once, however often and in whatever order the
-- processor tells of it. Whoever ends one locks its row first.
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

create table payment_intents (
  provider_id text not null,
  -- Clients know it as the transaction.
  reference text not null unique,
  purpose text not null check (purpose in ('product', 'credit_topup', 'usage_billing')),
  customer_ref text not null,
  product_ref text,
  plan_ref text,
  -- What is bought, as it was when its price was named.
  plan_snapshot jsonb,
  -- How the periods of the purchase follow each other.
  cycle_mode text not null check (cycle_mode in ('calendar', 'fixed_days')),
  -- The hosted page that it was made on, if any: used up by the payment.
  checkout_session_id text,
  -- The saved card that is charged without asking anybody; null: the customer's browser confirms the payment.
  payment_method_id text,
  -- Whether the card is kept for later charges.
  keeps_card boolean not null,
  -- 'creating': the processor may not know of it yet.
  status text not null check (
    status in ('creating', 'requires_payment_method', 'requires_action', 'processing', 'succeeded', 'canceled', 'failed')
  ),
  -- USD cents; `original_amount` is what is charged, in minor units of `currency`.
  amount bigint not null check (amount >= 0),
  original_amount bigint not null check (original_amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- US dollars of one unit of `currency`.
  exchange_rate numeric(20, 10) not null,
  -- Whole credits that it buys.
  credits bigint check (credits > 0),
  description text,
  processor_customer_id text not null,
  -- Null until the processor has told.
  processor_payment_id text unique,
  -- What it paid for.
  purchase_ref text,
  -- Why it failed, if it did.
  failure_reason text,
  -- Charges that were turned down, or causes where there was no charge: each of them was told of once.
  declined_charges text[] not null default '{}',
  -- Paid, but for nothing that could be given: to be paid back.
  refund_wanted boolean not null default false,
  -- To be withdrawn: it has expired, or something else was paid in its place.
  cancel_wanted boolean not null default false,
  -- Of whoever asked for it, once for each provider.
  idempotency_key text not null,
  input_sha256 text not null,
  expires_at timestamptz not null,
  -- When the processor is asked again what became of it; null once nothing more can.
  next_look_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  succeeded_at timestamptz,
  -- Of `original_amount`: the price before tax, the tax, and the rule it follows. Null: nobody asked for a breakdown.
  tax jsonb,
  -- The invoice that it pays, where it pays one.
  invoice_ref text,
  -- Whether it is paid and the processor has not told yet how much of it reached its balance.
  settlement_wanted boolean not null default false,
  -- From which purchase it changes the plan, and when: see `domain/src/payments/payment-intent.ts`. Null: it begins a period of
  -- its own.
  plan_switch jsonb,
  -- The provider's name when the payment was made, for the invoice. Null: it pays an invoice that has the name.
  seller_name text,
  -- Brand and last four digits of the card that paid, for receipts. Null: it was not paid, or not by card.
  paid_with jsonb,
  -- The means of payment that paid, by the processor's id. Null: it was not paid; see also `payment_method_id`.
  paid_method_id text,
  primary key (provider_id, reference),
  unique (provider_id, idempotency_key),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  foreign key (provider_id, product_ref) references products (provider_id, reference),
  foreign key (provider_id, plan_ref) references plans (provider_id, reference),
  foreign key (provider_id, purchase_ref) references purchases (provider_id, reference),
  foreign key (provider_id, invoice_ref) references invoices (provider_id, reference)
);

create index payment_intents_newest on payment_intents (provider_id, created_at desc, reference)
  where processor_payment_id is not null;
create index payment_intents_of_customer on payment_intents (provider_id, customer_ref, created_at desc);
create index payment_intents_to_look_at on payment_intents (next_look_at) where next_look_at is not null;
create index payment_intents_of_invoice on payment_intents (provider_id, invoice_ref)
  where invoice_ref is not null;
create index payment_intents_made on payment_intents (created_at);
create index payment_intents_paid on payment_intents (succeeded_at) where succeeded_at is not null;

-- However many processes want to charge an invoice, at most one payment could still be paid.
create unique index payment_intents_one_of_invoice on payment_intents (provider_id, invoice_ref)
  where invoice_ref is not null and status not in ('succeeded', 'canceled', 'failed');

-- One row for each call that changes something at the processor, written before the call: the key and the words that it
-- is repeated with until it is known what came of it.
create table payment_attempts (
  provider_id text not null,
  intent_ref text not null,
  number smallint not null,
  operation text not null check (operation in ('create', 'confirm', 'change', 'cancel', 'refund')),
  idempotency_key text not null unique,
  request jsonb not null,
  -- 'lost': the processor has proved not to know of it.
  outcome text not null check (outcome in ('sent', 'unknown', 'done', 'declined', 'refused', 'lost')),
  -- How often it was sent, and what was wrong the last time.
  sends int not null default 1,
  message text,
  sent_at timestamptz not null,
  settled_at timestamptz,
  -- Of a call that the bank declined: whether the same card may succeed later, only another card, or only with the customer.
  decline text check (decline in ('soft', 'hard', 'customer')),
  primary key (provider_id, intent_ref, number),
  foreign key (provider_id, intent_ref) references payment_intents (provider_id, reference)
);

-- However many processes want to charge: one of them does.
create unique index payment_attempts_one_at_a_time on payment_attempts (provider_id, intent_ref)
  where outcome in ('sent', 'unknown');

-- When credits are bought on the saved card without asking the customer.
create table auto_recharges (
  provider_id text not null,
  customer_ref text not null,
  status text not null check (status in ('active', 'disabled', 'failed', 'pending_setup')),
  -- Minor units of `threshold_currency`: what the balance was shown in when this was asked for.
  threshold_minor bigint not null check (threshold_minor >= 0),
  threshold_currency text not null check (threshold_currency ~ '^[A-Z]{3}$'),
  -- Minor units of `topup_currency`, like what was spent and may be spent in a month.
  topup_minor bigint not null check (topup_minor >= 0),
  topup_currency text not null check (topup_currency ~ '^[A-Z]{3}$'),
  monthly_spend_minor bigint not null default 0 check (monthly_spend_minor >= 0),
  monthly_spend_max_minor bigint check (monthly_spend_max_minor >= 0),
  -- `YYYY-MM`, UTC, that monthly_spend_minor was spent in.
  monthly_spend_period text check (monthly_spend_period ~ '^[0-9]{4}-[0-9]{2}$'),
  failure_count int not null default 0,
  funding_source_type text not null check (funding_source_type in ('saved_card', 'tokenized_card')),
  payment_method_id text,
  in_flight_payment_intent_id text,
  last_charge_at timestamptz,
  lock_acquired_at timestamptz,
  updated_at timestamptz not null,
  -- When somebody last looked whether credits have run low.
  looked_at timestamptz,
  -- Where a card is being set up for it, at the payment processor.
  setup_intent_id text,
  -- Why nothing is bought although credits have run low, other than a declined charge. Null: nothing is in the way.
  obstacle text check (obstacle in ('monthly_cap_too_low', 'exchange_rate_missing')),
  -- `YYYY-MM`, UTC: the last month in which the customer was told of an obstacle.
  obstacle_month text check (obstacle_month ~ '^[0-9]{4}-[0-9]{2}$'),
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index auto_recharges_to_look_at on auto_recharges (looked_at nulls first)
  where status = 'active' and in_flight_payment_intent_id is null;

create trigger audited after insert or update or delete on processor_customers
  for each row execute function audit_row('customer_ref', 'removal_due_at,removal_tries,removal_error');

create trigger audited after insert or update or delete on customer_cards
  for each row execute function audit_row('customer_ref');

create trigger audited after insert or update or delete on card_setups
  for each row execute function audit_row('setup_intent_id');

create trigger audited after insert or update or delete on payment_intents
  for each row execute function audit_row('reference', 'next_look_at');

create trigger audited after insert or update or delete on auto_recharges
  for each row execute function audit_row('customer_ref', 'looked_at');
