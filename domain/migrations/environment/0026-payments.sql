-- What customers are asked to pay, and every call to the payment processor about it.
-- Written by: control-plane and billing-runner. A change of a payment intent locks its row first.

-- Whom we call whom at the payment processor.
create table processor_customers (
  provider_id text not null,
  customer_ref text not null,
  processor_customer_id text not null unique,
  created_at timestamptz not null,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

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
  primary key (provider_id, reference),
  unique (provider_id, idempotency_key),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  foreign key (provider_id, product_ref) references products (provider_id, reference),
  foreign key (provider_id, plan_ref) references plans (provider_id, reference),
  foreign key (provider_id, purchase_ref) references purchases (provider_id, reference)
);

create index payment_intents_newest on payment_intents (provider_id, created_at desc, reference)
  where processor_payment_id is not null;
create index payment_intents_of_customer on payment_intents (provider_id, customer_ref, created_at desc);
create index payment_intents_to_look_at on payment_intents (next_look_at) where next_look_at is not null;

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
  primary key (provider_id, intent_ref, number),
  foreign key (provider_id, intent_ref) references payment_intents (provider_id, reference)
);

-- However many processes want to charge: one of them does.
create unique index payment_attempts_one_at_a_time on payment_attempts (provider_id, intent_ref)
  where outcome in ('sent', 'unknown');

-- A top-up is a purchase of no product.
alter table purchases alter column product_ref drop not null;

create trigger audited after insert or update or delete on processor_customers
  for each row execute function audit_row('customer_ref');
create trigger audited after insert or update or delete on payment_intents
  for each row execute function audit_row('reference', 'next_look_at');

-- Credits that were bought come from `purchased`.
alter table ledger_transactions
  drop constraint ledger_transactions_kind_check,
  add constraint ledger_transactions_kind_check check (kind in (
    'grant', 'top_up', 'usage', 'write_off', 'adjustment', 'expiry',
    'invoice_issued', 'invoice_carried', 'invoice_voided', 'invoice_written_off', 'credit_note',
    'payment_succeeded', 'payment_settled',
    'refund_pending', 'refund_succeeded', 'refund_failed',
    'dispute_withdrawn', 'dispute_reinstated', 'payout_paid', 'payout_failed'
  ));
alter table ledger_entries
  drop constraint ledger_entries_account_check,
  add constraint ledger_entries_account_check check (
    case when unit = 'credits'
      then account in ('wallet', 'granted', 'purchased', 'used', 'written_off', 'adjusted', 'breakage')
      else account in (
        'receivable', 'carried', 'revenue', 'prepaid', 'clearing', 'bank', 'fees', 'fx', 'refunds', 'refunds_due',
        'disputes', 'written_off', 'rounding'
      )
    end
  );
