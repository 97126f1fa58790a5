-- What people decide about invoices, continued: refunds, invoices of their own lines, and items of a customer's next invoice.
-- Written by: control-plane. Items are marked as billed by the process that makes the invoice, also by the billing runner.

-- Parts of a customer's balance that were paid out: to cards that the customer has paid with, or by other means.
create table balance_payouts (
  provider_id text not null,
  reference text not null unique,
  customer_ref text not null,
  -- Minor units of `currency`.
  amount bigint not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  goes_to text not null check (goes_to in ('card', 'other')),
  reason text not null,
  -- Who decided, as in the audit log.
  decided_by text not null,
  idempotency_key text,
  input_sha256 text not null,
  created_at timestamptz not null,
  primary key (provider_id, reference),
  unique (provider_id, idempotency_key),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index balance_payouts_of_customer on balance_payouts (provider_id, customer_ref);

create trigger balance_payouts_stay before update or delete on balance_payouts
  for each row execute function invoice_refuse_change();
create trigger audited after insert on balance_payouts
  for each row execute function audit_row('reference');

-- Refunds to the card that paid an invoice, or to the balance of the customer. Written in the transaction of the decision, and in
-- those that store the processor's answer.
create table requested_refunds (
  provider_id text not null,
  reference text not null unique,
  -- The refunded invoice. Null: the refund pays out a part of the customer's balance.
  invoice_ref text,
  payout_ref text,
  -- The payment that paid the invoice. Null: it was paid without the processor, and the refund goes to the balance.
  intent_ref text,
  goes_to text not null check (goes_to in ('card', 'balance')),
  -- Minor units of `currency`, with the tax.
  amount bigint not null check (amount > 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- `open`: the processor's answer is not known. `done`: it has the refund, or the balance has the amount.
  status text not null check (status in ('open', 'done', 'refused')),
  -- The processor's id of the refund. Its later states are in `payment_refunds`.
  processor_refund_id text,
  -- The idempotency key of the call, when it was first sent, and how often its outcome was unknown.
  call_key text not null,
  sent_at timestamptz not null,
  sends integer not null default 0,
  -- What the processor answered if it did not make the refund.
  message text,
  -- Earliest time of the next call. A process moves it into the future while it makes the call. Null: the answer is known.
  due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference),
  foreign key (provider_id, invoice_ref) references invoices (provider_id, reference),
  foreign key (provider_id, intent_ref) references payment_intents (provider_id, reference),
  foreign key (provider_id, payout_ref) references balance_payouts (provider_id, reference),
  check ((invoice_ref is null) = (payout_ref is not null)),
  check (goes_to = 'balance' or intent_ref is not null),
  check ((status = 'open') = (due_at is not null))
);

create unique index requested_refunds_at_processor on requested_refunds (provider_id, processor_refund_id)
  where processor_refund_id is not null;
create index requested_refunds_of_invoice on requested_refunds (provider_id, invoice_ref);
create index requested_refunds_of_payout on requested_refunds (provider_id, payout_ref)
  where payout_ref is not null;
create index requested_refunds_of_intent on requested_refunds (provider_id, intent_ref);
create index requested_refunds_due on requested_refunds (due_at) where due_at is not null;

create trigger audited after insert or update or delete on requested_refunds
  for each row execute function audit_row('reference', 'due_at,sends,sent_at');
create trigger due_in_real_time before insert or update of due_at, sent_at on requested_refunds
  for each row when (new.intent_ref is not null) execute function due_in_real_time('due_at', 'sent_at');

-- The part of a refund for which the customer had a credit already. It is taken from the balance, so that it is not returned twice.
alter table payment_refunds add column from_balance bigint not null default 0
  check (from_balance between 0 and amount);

alter table invoice_decisions add column refund_ref text;
alter table invoice_decisions add foreign key (provider_id, refund_ref)
  references requested_refunds (provider_id, reference);
alter table invoice_decisions drop constraint invoice_decisions_kind_check;
alter table invoice_decisions add constraint invoice_decisions_kind_check
  check (kind in ('credited', 'voided', 'written_off', 'paid_outside', 'refunded', 'issued', 'due_date', 'held', 'released'));
alter table invoice_decisions drop constraint invoice_decisions_check;
-- A refund to the balance has its credit note at once, one to the card when the processor has paid it.
alter table invoice_decisions add constraint invoice_decisions_check check (
  (kind = 'refunded') = (refund_ref is not null)
  and case kind when 'credited' then credit_note_ref is not null when 'refunded' then true else credit_note_ref is null end
);

alter table ledger_transactions drop constraint ledger_transactions_kind_check;
alter table ledger_transactions add constraint ledger_transactions_kind_check check (kind in (
  'usage_written_off', 'carried_written_off',
  'grant', 'top_up', 'usage', 'write_off', 'adjustment', 'expiry', 'take_back', 'give_back',
  'invoice_issued', 'invoice_carried', 'invoice_voided', 'invoice_written_off', 'invoice_paid_outside', 'credit_note',
  'payment_succeeded', 'payment_settled',
  'refund_pending', 'refund_succeeded', 'refund_settled', 'refund_failed', 'refund_from_balance', 'balance_paid_out',
  'dispute_withdrawn', 'dispute_reinstated', 'payout_paid', 'payout_failed'
)) not valid;
alter table ledger_transactions validate constraint ledger_transactions_kind_check;

-- Lines that people add: to an invoice of their own, or to the customer's next invoice.
alter table invoice_lines drop constraint invoice_lines_kind_check;
alter table invoice_lines add constraint invoice_lines_kind_check check (kind in (
  'recurring', 'setup_fee', 'one_time', 'credits', 'usage', 'late_usage', 'proration', 'item', 'tax', 'carried_in'
)) not valid;
alter table invoice_lines validate constraint invoice_lines_kind_check;

create table invoice_items (
  provider_id text not null,
  reference text not null unique,
  customer_ref text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  description text not null,
  -- The inputs of the line, see `domain/src/pricing/line-inputs.ts`.
  inputs jsonb not null,
  reason text not null,
  -- Who added the item, as in the audit log.
  added_by text not null,
  -- The invoice that charges the item. Null: none yet.
  invoice_ref text,
  removed_at timestamptz,
  idempotency_key text,
  input_sha256 text not null,
  created_at timestamptz not null,
  -- Items of one instant are charged in the order in which they were added.
  id bigint generated always as identity,
  primary key (provider_id, reference),
  unique (provider_id, idempotency_key),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  foreign key (provider_id, invoice_ref) references invoices (provider_id, reference)
    deferrable initially deferred,
  check (invoice_ref is null or removed_at is null)
);

create index invoice_items_pending on invoice_items (provider_id, customer_ref, id)
  where invoice_ref is null and removed_at is null;

create trigger audited after insert or update or delete on invoice_items
  for each row execute function audit_row('reference');

-- When an issued invoice is to be paid. Null: when it is issued.
alter table invoices add column due_at timestamptz;
