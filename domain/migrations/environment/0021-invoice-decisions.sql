-- Decisions of people about invoices: amounts that they credited, gave up, or received outside of the payment processor.
-- Written by: control-plane, in the transaction that changes the invoice.

create table invoice_decisions (
  provider_id text not null,
  reference text not null unique,
  invoice_ref text not null,
  kind text not null check (kind in ('credited', 'voided', 'written_off', 'paid_outside')),
  -- Minor units of the invoice's currency. 0 for an invoice that was void without anything due.
  amount numeric(38, 0) not null check (amount >= 0),
  reason text not null,
  -- Who decided, as in the audit log.
  decided_by text not null,
  -- Null if nothing was credited.
  credit_note_ref text,
  -- A repetition with the same key gets the first decision if it asks for the same, and is refused otherwise.
  idempotency_key text,
  input_sha256 text not null,
  created_at timestamptz not null,
  -- Decisions of one instant are shown in the order in which they were made.
  id bigint generated always as identity,
  primary key (provider_id, reference),
  unique (provider_id, idempotency_key),
  foreign key (provider_id, invoice_ref) references invoices (provider_id, reference),
  foreign key (provider_id, credit_note_ref) references credit_notes (provider_id, reference),
  check ((kind = 'credited') = (credit_note_ref is not null))
);

create index invoice_decisions_of_invoice on invoice_decisions (provider_id, invoice_ref, id);

create trigger invoice_decisions_stay before update or delete on invoice_decisions
  for each row execute function invoice_refuse_change();
create trigger audited after insert on invoice_decisions
  for each row execute function audit_row('reference');

-- Money that reached the provider without the payment processor.
alter table ledger_transactions drop constraint ledger_transactions_kind_check;
alter table ledger_transactions add constraint ledger_transactions_kind_check check (kind in (
  'usage_written_off', 'carried_written_off',
  'grant', 'top_up', 'usage', 'write_off', 'adjustment', 'expiry', 'take_back', 'give_back',
  'invoice_issued', 'invoice_carried', 'invoice_voided', 'invoice_written_off', 'invoice_paid_outside', 'credit_note',
  'payment_succeeded', 'payment_settled',
  'refund_pending', 'refund_succeeded', 'refund_settled', 'refund_failed',
  'dispute_withdrawn', 'dispute_reinstated', 'payout_paid', 'payout_failed'
)) not valid;
alter table ledger_transactions validate constraint ledger_transactions_kind_check;

alter table ledger_entries drop constraint ledger_entries_account_check;
alter table ledger_entries add constraint ledger_entries_account_check check (
  case when unit = 'credits'
    then account in ('wallet', 'granted', 'purchased', 'used', 'written_off', 'adjusted', 'breakage')
    else account in (
      'receivable', 'carried', 'revenue', 'prepaid', 'tax', 'clearing', 'bank', 'outside', 'fees', 'fx', 'refunds',
      'refunds_due', 'disputes', 'written_off', 'breakage', 'rounding'
    )
  end
) not valid;
alter table ledger_entries validate constraint ledger_entries_account_check;
