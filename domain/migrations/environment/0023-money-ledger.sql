-- Money in the ledger that holds credits: the same double entry, in minor units of a currency.
-- Written by: control-plane and billing-runner.

-- Payouts are nobody's.
alter table ledger_transactions alter column customer_ref drop not null;
alter table ledger_entries alter column customer_ref drop not null;

alter table ledger_transactions
  drop constraint ledger_transactions_kind_check,
  add constraint ledger_transactions_kind_check check (kind in (
    'grant', 'usage', 'write_off', 'adjustment', 'expiry',
    'invoice_issued', 'invoice_carried', 'invoice_voided', 'invoice_written_off', 'credit_note',
    'payment_succeeded', 'payment_settled',
    'refund_pending', 'refund_succeeded', 'refund_failed',
    'dispute_withdrawn', 'dispute_reinstated', 'payout_paid', 'payout_failed'
  )),
  add constraint ledger_transactions_customer_check check (
    customer_ref is not null or kind in ('payout_paid', 'payout_failed')
  );

-- Accounts of money; what we have or are owed is positive there, what we earned or owe is negative.
--   receivable: issued and not paid          carried: waits for a customer's next invoice
--   revenue                                  prepaid: paid for credits, which are owed
--   clearing: at the processor               bank: paid out
--   fees: of the processor                   fx: exchanged on the way, in both currencies
--   refunds, refunds_due: paid back, and on its way
--   disputes: withdrawn by a customer's bank
--   written_off: not to be had any more      rounding: less than a minor unit, added up
alter table ledger_entries
  drop constraint ledger_entries_account_check,
  add constraint ledger_entries_account_check check (
    case when unit = 'credits'
      then account in ('wallet', 'granted', 'used', 'written_off', 'adjusted', 'breakage')
      else account in (
        'receivable', 'carried', 'revenue', 'prepaid', 'clearing', 'bank', 'fees', 'fx', 'refunds', 'refunds_due',
        'disputes', 'written_off', 'rounding'
      )
    end
  ),
  add constraint ledger_entries_unit_check check (unit = 'credits' or unit ~ '^[A-Z]{3}$');

create index ledger_entries_of_account on ledger_entries (provider_id, account, unit);
