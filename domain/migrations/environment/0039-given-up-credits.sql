-- A bill that is given up takes back what a correction of its usage had credited to the customer's balance.
-- Written by: control-plane and billing-runner, in the transactions that void, write off or pay an invoice.

alter table ledger_transactions drop constraint ledger_transactions_kind_check;
alter table ledger_transactions add constraint ledger_transactions_kind_check check (kind in (
  'usage_written_off', 'carried_written_off',
  'grant', 'top_up', 'usage', 'write_off', 'adjustment', 'expiry', 'take_back', 'give_back',
  'invoice_issued', 'invoice_carried', 'invoice_voided', 'invoice_written_off', 'invoice_paid_outside', 'credit_note',
  'given_up_from_balance', 'payment_succeeded', 'payment_settled',
  'refund_pending', 'refund_succeeded', 'refund_settled', 'refund_failed', 'refund_from_balance', 'balance_paid_out',
  'dispute_withdrawn', 'dispute_reinstated', 'dispute_from_balance', 'payout_paid', 'payout_failed'
)) not valid;
alter table ledger_transactions validate constraint ledger_transactions_kind_check;
