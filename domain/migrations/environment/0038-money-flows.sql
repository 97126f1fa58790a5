-- Every flow of money is posted: what credits were paid with, tax, fees, and what is paid back with what it takes away.
-- Written by: control-plane and billing-runner.

alter table ledger_transactions
  -- What it is about, so that what the ledger has of an invoice is a sum.
  add column invoice_ref text,
  drop constraint ledger_transactions_kind_check,
  add constraint ledger_transactions_kind_check check (kind in (
    'grant', 'top_up', 'usage', 'write_off', 'adjustment', 'expiry', 'take_back', 'give_back',
    'invoice_issued', 'invoice_carried', 'invoice_voided', 'invoice_written_off', 'credit_note',
    'payment_succeeded', 'payment_settled',
    'refund_pending', 'refund_succeeded', 'refund_settled', 'refund_failed',
    'dispute_withdrawn', 'dispute_reinstated', 'payout_paid', 'payout_failed'
  ));

create index ledger_transactions_of_invoice on ledger_transactions (provider_id, invoice_ref)
  where invoice_ref is not null;

-- A publication ends what was held for these.
drop index ledger_transactions_of_removals;
create index ledger_transactions_of_removals on ledger_transactions (provider_id, customer_ref, created_at)
  where kind in ('adjustment', 'expiry', 'take_back');

-- What is added to the accounts of money (0023-money-ledger.sql):
--   tax: collected, and owed to a state
--   breakage: paid for credits that nobody will use any more
-- `prepaid` becomes `revenue` as the credits are used.
alter table ledger_entries
  drop constraint ledger_entries_account_check,
  add constraint ledger_entries_account_check check (
    case when unit = 'credits'
      then account in ('wallet', 'granted', 'purchased', 'used', 'written_off', 'adjusted', 'breakage')
      else account in (
        'receivable', 'carried', 'revenue', 'prepaid', 'tax', 'clearing', 'bank', 'fees', 'fx', 'refunds', 'refunds_due',
        'disputes', 'written_off', 'breakage', 'rounding'
      )
    end
  );

alter table credit_grants
  -- What was paid for it without tax, minor units. Null: it was given, or paid before this was kept.
  add column paid numeric(38, 0) check (paid >= 0),
  add column paid_currency text check (paid_currency ~ '^[A-Z]{3}$'),
  add constraint credit_grants_paid_in_check check ((paid is null) = (paid_currency is null));

alter table payment_intents
  -- Paid, and the processor has not told yet what of it reached its balance.
  add column settlement_wanted boolean not null default false;

alter table payment_refunds
  -- Of `amount`: tax that is not owed any more.
  add column tax bigint not null default 0 check (tax between 0 and amount),
  drop column credits_taken;

-- Credits that money was paid back for: taken out of the wallet as far as they are still there, and given back should the
-- money come back. Worked off by: control-plane, which reaches the hot state.
create table credit_take_backs (
  provider_id text not null,
  -- The processor's, of the refund or the dispute.
  reference text not null,
  cause text not null check (cause in ('refund', 'dispute')),
  intent_ref text not null,
  customer_ref text not null,
  -- Minor units of the payment's currency, and the whole credits that these had bought.
  amount bigint not null check (amount > 0),
  credits bigint not null check (credits >= 0),
  -- The refund failed after it had succeeded, or the dispute was won.
  is_undone boolean not null default false,
  -- What was there to be taken, 10^-6 credits; null: not tried yet.
  taken_micros numeric(38, 0) check (taken_micros between 0 and credits * 1000000),
  given_back_at timestamptz,
  -- When somebody is to take or to give back, at the earliest; null: both are done, as far as they are wanted.
  due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference),
  foreign key (provider_id, intent_ref) references payment_intents (provider_id, reference),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index credit_take_backs_of_intent on credit_take_backs (provider_id, intent_ref);
create index credit_take_backs_due on credit_take_backs (due_at) where due_at is not null;

create trigger audited after insert or update or delete on credit_take_backs
  for each row execute function audit_row('reference', 'due_at');
