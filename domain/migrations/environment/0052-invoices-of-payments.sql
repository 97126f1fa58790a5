-- Every payment that buys something has an invoice, and a refund of it a credit note.
-- Written by: control-plane and billing-runner.

alter table payment_intents
  -- The provider's name when the payment was made: who sells, on the invoice. Null: it pays an invoice that says so itself.
  add column seller_name text,
  -- Brand and last four digits of the card that paid, for receipts. Null: not paid, or not by card.
  add column paid_with jsonb;

-- What can still be paid has no name yet but where it is a change of plan.
update payment_intents set seller_name = plan_switch ->> 'sellerName'
where plan_switch is not null and status not in ('succeeded', 'canceled', 'failed');

-- Lines that are there were held to fewer kinds.
alter table invoice_lines
  drop constraint invoice_lines_kind_check,
  add constraint invoice_lines_kind_check check (
    kind in (
      'recurring', 'setup_fee', 'one_time', 'credits', 'usage', 'late_usage', 'proration', 'tax',
      'carried_in'
    )
  ) not valid;

alter table credit_notes
  -- The refund it was written for, as the processor names it.
  add column refund_ref text,
  -- The refund did not arrive after all: nothing is taken back by this.
  add column voided_at timestamptz;

create unique index credit_notes_of_refund on credit_notes (provider_id, refund_ref)
  where refund_ref is not null;

-- Once: from then on it stays void.
drop trigger credit_notes_stay on credit_notes;
create trigger credit_notes_stay before delete or update of provider_id, reference, number, invoice_ref,
  customer_ref, currency, total, settles, reason, created_at, refund_ref on credit_notes
  for each row execute function invoice_refuse_change();
create trigger credit_notes_stay_void before update of voided_at on credit_notes
  for each row when (old.voided_at is not null) execute function invoice_refuse_change();
