-- Payments of customers, and every request to the payment processor for them.
-- Written by: control-plane and billing-runner. Every change of a payment intent locks its row first.

-- The id of each customer at the payment processor. A deleted customer is also deleted there: the row records this before the
-- request is sent, and is removed after the processor has deleted the customer.
create table processor_customers (
  provider_id text not null,
  customer_ref text not null,
  processor_customer_id text not null unique,
  created_at timestamptz not null,
  -- When the next request to delete the customer at the processor is sent. Null: none is planned.
  removal_due_at timestamptz,
  removal_tries int not null default 0,
  -- Why the last attempt failed.
  removal_error text,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index processor_customers_to_remove on processor_customers (removal_due_at)
  where removal_due_at is not null;

-- The card of a customer for charges, as the payment processor described it after the last successful payment. The card number
-- is never stored.
create table customer_cards (
  provider_id text not null,
  customer_ref text not null,
  brand text not null,
  last4 text not null check (last4 ~ '^[0-9]{4}$'),
  exp_month int not null check (exp_month between 1 and 12),
  exp_year int not null,
  -- Whether it may be charged without the customer, or is only saved.
  reusable boolean not null,
  payment_method_id text,
  updated_at timestamptz not null,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

-- Setups in which customers save a card. Each card is saved once, even if the processor reports it several times and in any
-- order. Every change that ends a setup locks its row first.
create table card_setups (
  provider_id text not null,
  setup_intent_id text not null unique,
  customer_ref text not null,
  created_at timestamptz not null,
  -- When its card was saved, or when the setup could no longer succeed.
  ended_at timestamptz,
  primary key (provider_id, setup_intent_id),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index card_setups_open on card_setups (created_at) where ended_at is null;

create table payment_intents (
  provider_id text not null,
  -- Clients see it as the transaction.
  reference text not null unique,
  purpose text not null check (purpose in ('product', 'credit_topup', 'usage_billing')),
  customer_ref text not null,
  product_ref text,
  plan_ref text,
  -- The plan or credits to buy, at the time of pricing.
  plan_snapshot jsonb,
  -- The billing cycle of the purchase.
  cycle_mode text not null check (cycle_mode in ('calendar', 'fixed_days')),
  -- The checkout in which it was created, if any. The payment completes the checkout.
  checkout_session_id text,
  -- The saved card that is charged without the customer. Null: the customer's browser confirms the payment.
  payment_method_id text,
  -- Whether the card is saved for later charges.
  keeps_card boolean not null,
  -- 'creating': it may not exist at the processor yet.
  status text not null check (
    status in ('creating', 'requires_payment_method', 'requires_action', 'processing', 'succeeded', 'canceled', 'failed')
  ),
  -- USD cents; `original_amount` is the charged amount in minor units of `currency`.
  amount bigint not null check (amount >= 0),
  original_amount bigint not null check (original_amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- US dollars for one unit of `currency`.
  exchange_rate numeric(20, 10) not null,
  -- Number of whole credits that it buys.
  credits bigint check (credits > 0),
  description text,
  processor_customer_id text not null,
  -- Null until the processor has reported it.
  processor_payment_id text unique,
  -- The purchase that it paid for.
  purchase_ref text,
  -- Why it failed, if it failed.
  failure_reason text,
  -- Ids of declined charges, or of errors without a charge. An event was emitted once for each of them.
  declined_charges text[] not null default '{}',
  -- The payment succeeded but could not be fulfilled, so it will be refunded.
  refund_wanted boolean not null default false,
  -- It will be cancelled, because it has expired or another payment replaced it.
  cancel_wanted boolean not null default false,
  -- Idempotency key of the request that created it, unique per provider.
  idempotency_key text not null,
  input_sha256 text not null,
  expires_at timestamptz not null,
  -- When its state is read from the processor again. Null if it can no longer change.
  next_look_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  succeeded_at timestamptz,
  -- Breakdown of `original_amount`: the price before tax, the tax, and the tax rule. Null: there is no breakdown.
  tax jsonb,
  -- The invoice that it pays, if any.
  invoice_ref text,
  -- Whether it is paid but the processor has not reported yet which amount reached the balance.
  settlement_wanted boolean not null default false,
  -- The purchase whose plan it changes, and the time: see `domain/src/payments/payment-intent.ts`. Null: it starts a new
  -- period.
  plan_switch jsonb,
  -- The provider's name at the time of the payment, for the invoice. Null: it pays an invoice, which has the name.
  seller_name text,
  -- Brand and last four digits of the card that paid, for receipts. Null: it was not paid, or not by card.
  paid_with jsonb,
  -- The processor's id of the payment method that paid. Null: it was not paid. See also `payment_method_id`.
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

-- Even if several processes charge an invoice, at most one of its payments can still succeed.
create unique index payment_intents_one_of_invoice on payment_intents (provider_id, invoice_ref)
  where invoice_ref is not null and status not in ('succeeded', 'canceled', 'failed');

-- One row for each request that changes something at the processor, written before the request: the key and the parameters with
-- which it is repeated until its outcome is known.
create table payment_attempts (
  provider_id text not null,
  intent_ref text not null,
  number smallint not null,
  operation text not null check (operation in ('create', 'confirm', 'change', 'cancel', 'refund')),
  idempotency_key text not null unique,
  request jsonb not null,
  -- 'lost': it is certain that the processor never received it.
  outcome text not null check (outcome in ('sent', 'unknown', 'done', 'declined', 'refused', 'lost')),
  -- How often it was sent, and the last error.
  sends int not null default 1,
  message text,
  sent_at timestamptz not null,
  settled_at timestamptz,
  -- For a request that the bank declined: whether the same card may succeed later, only another card, or only with the customer
  -- present.
  decline text check (decline in ('soft', 'hard', 'customer')),
  primary key (provider_id, intent_ref, number),
  foreign key (provider_id, intent_ref) references payment_intents (provider_id, reference)
);

-- Even if several processes want to charge, only one of them does.
create unique index payment_attempts_one_at_a_time on payment_attempts (provider_id, intent_ref)
  where outcome in ('sent', 'unknown');

-- Terms under which credits are bought with the saved card without the customer.
create table auto_recharges (
  provider_id text not null,
  customer_ref text not null,
  status text not null check (status in ('active', 'disabled', 'failed', 'pending_setup')),
  -- Minor units of `threshold_currency`, the currency in which the balance was shown when the customer set the terms.
  threshold_minor bigint not null check (threshold_minor >= 0),
  threshold_currency text not null check (threshold_currency ~ '^[A-Z]{3}$'),
  -- Minor units of `topup_currency`, like the amounts spent and allowed per month.
  topup_minor bigint not null check (topup_minor >= 0),
  topup_currency text not null check (topup_currency ~ '^[A-Z]{3}$'),
  monthly_spend_minor bigint not null default 0 check (monthly_spend_minor >= 0),
  monthly_spend_max_minor bigint check (monthly_spend_max_minor >= 0),
  -- The month (`YYYY-MM`, UTC) of monthly_spend_minor.
  monthly_spend_period text check (monthly_spend_period ~ '^[0-9]{4}-[0-9]{2}$'),
  failure_count int not null default 0,
  funding_source_type text not null check (funding_source_type in ('saved_card', 'tokenized_card')),
  payment_method_id text,
  in_flight_payment_intent_id text,
  last_charge_at timestamptz,
  lock_acquired_at timestamptz,
  updated_at timestamptz not null,
  -- When the balance was last checked.
  looked_at timestamptz,
  -- The processor's id of the setup of a card for it.
  setup_intent_id text,
  -- Why no credits are bought although the balance is low, other than a declined charge. Null: there is no obstacle.
  obstacle text check (obstacle in ('monthly_cap_too_low', 'exchange_rate_missing')),
  -- The last month (`YYYY-MM`, UTC) in which an event about an obstacle was emitted.
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
