-- The credit of a customer's balance pays for purchases too. A payment that is open keeps its part of the credit from all other uses.
-- Written by: control-plane and billing-runner, in the transactions that create or end a payment.

-- The part of the credit that open payments keep for themselves: the sum of their `balance_part`. Other uses see `amount + held`.
alter table carried_amounts add column held numeric(38, 0) not null default 0 check (held >= 0);

-- The part of the price that the balance pays, in minor units of `currency`. The processor charges `original_amount`, the rest.
alter table payment_intents add column balance_part bigint not null default 0 check (balance_part >= 0);
-- A payment of which nothing is left to charge does not exist at the processor.
alter table payment_intents alter column processor_customer_id drop not null;
alter table payment_intents drop constraint payment_intents_original_amount_check;
alter table payment_intents add constraint payment_intents_original_amount_check check (
  original_amount > 0 and processor_customer_id is not null
  or original_amount = 0 and balance_part > 0 and processor_payment_id is null
) not valid;
alter table payment_intents validate constraint payment_intents_original_amount_check;

-- What a bank withdraws of money that was credited to the balance before is taken from the balance.
alter table ledger_transactions drop constraint ledger_transactions_kind_check;
alter table ledger_transactions add constraint ledger_transactions_kind_check check (kind in (
  'usage_written_off', 'carried_written_off',
  'grant', 'top_up', 'usage', 'write_off', 'adjustment', 'expiry', 'take_back', 'give_back',
  'invoice_issued', 'invoice_carried', 'invoice_voided', 'invoice_written_off', 'invoice_paid_outside', 'credit_note',
  'payment_succeeded', 'payment_settled',
  'refund_pending', 'refund_succeeded', 'refund_settled', 'refund_failed', 'refund_from_balance', 'balance_paid_out',
  'dispute_withdrawn', 'dispute_reinstated', 'dispute_from_balance', 'payout_paid', 'payout_failed'
)) not valid;
alter table ledger_transactions validate constraint ledger_transactions_kind_check;
