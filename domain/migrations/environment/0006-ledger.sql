-- The ledger: credits and money in double entry, and the wallets, which are sums of the entries of credits.
-- Written by: control-plane and billing-runner. Every posting of credits locks the row of the wallet first.

-- The sums of the entries of one wallet. The command `ledger verify` compares it with the entries.
create table wallets (
  provider_id text not null,
  customer_ref text not null,
  -- 10^-6 credits: everything that was ever added, minus removals other than usage. This sum is published. Hot state debits
  -- usage from it immediately, before the debit is posted here.
  granted_micros numeric(38, 0) not null default 0 check (granted_micros >= 0),
  -- The balance according to the entries. Usage never debits more than the balance, so it never falls below zero.
  balance_micros numeric(38, 0) not null default 0 check (balance_micros >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- 10^-6 credits: everything that was ever removed other than by usage. Both sums only grow, so a wallet with the same two
  -- sums is in the same state.
  removed_micros numeric(38, 0) not null default 0 check (removed_micros >= 0),
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create table ledger_transactions (
  provider_id text not null,
  reference text not null unique,
  kind text not null check (kind in (
    'usage_written_off', 'carried_written_off',
    'grant', 'top_up', 'usage', 'write_off', 'adjustment', 'expiry', 'take_back', 'give_back',
    'invoice_issued', 'invoice_carried', 'invoice_voided', 'invoice_written_off', 'credit_note',
    'payment_succeeded', 'payment_settled',
    'refund_pending', 'refund_succeeded', 'refund_settled', 'refund_failed',
    'dispute_withdrawn', 'dispute_reinstated', 'payout_paid', 'payout_failed'
  )),
  -- A second posting with the same key is a repetition. It gets the result of the first one if it is equal; otherwise it is
  -- refused.
  transaction_key text not null,
  input_sha256 text not null,
  -- Null for a payout, which belongs to no customer.
  customer_ref text,
  reason text,
  -- The result of the posting, which a repetition returns.
  result jsonb not null,
  created_at timestamptz not null,
  -- The invoice of the posting, so that the amounts of an invoice can be summed from the ledger.
  invoice_ref text,
  id bigint generated always as identity,
  primary key (provider_id, reference),
  unique (provider_id, transaction_key),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  constraint ledger_transactions_customer_check check (
    customer_ref is not null or kind in ('payout_paid', 'payout_failed')
  )
);

create index ledger_transactions_of_customer
  on ledger_transactions (provider_id, customer_ref, created_at desc);
create index ledger_transactions_of_invoice on ledger_transactions (provider_id, invoice_ref)
  where invoice_ref is not null;
-- Transactions that debited credits in hot state. A publication ends their holds.
create index ledger_transactions_of_removals on ledger_transactions (provider_id, customer_ref, created_at)
  where kind in ('adjustment', 'expiry', 'take_back');
-- For seals, and for the reconciliation of a time range.
create index ledger_transactions_in_order on ledger_transactions (provider_id, id);
create index ledger_transactions_bought on ledger_transactions (created_at) where kind = 'top_up';
create index ledger_transactions_paid on ledger_transactions (provider_id, created_at) where kind = 'payment_succeeded';

-- Two or more entries per transaction, whose sum is zero.
--
-- Accounts of credits: `wallet` is the amount owed to the customer, so added credits are positive. `granted`,
-- `purchased`, `adjusted` (by hand) and `written_off` are the sources of credits; `used` and `breakage` (expired unused) are
-- their uses.
--
-- Accounts of money: amounts that the provider has or is owed are positive, amounts that it earned or owes are negative.
--   receivable: issued and not paid              carried: waits for the customer's next invoice
--   revenue                                      prepaid: paid for credits; becomes revenue as they are used
--   tax: collected, and owed to a state          clearing: at the payment processor
--   bank: paid out                               fees: of the payment processor
--   fx: exchanged amounts, in both currencies
--   refunds: refunded                            refunds_due: refunds in progress
--   disputes: withdrawn by a customer's bank     written_off: will not be paid
--   breakage: paid for credits that expired unused
--   rounding: sums of fractions of a minor unit
create table ledger_entries (
  provider_id text not null,
  transaction_ref text not null,
  line smallint not null,
  account text not null,
  customer_ref text,
  -- 'credits', or an ISO 4217 code; amounts in 10^-6 credits or in minor units.
  unit text not null,
  amount numeric(38, 0) not null check (amount <> 0),
  primary key (provider_id, transaction_ref, line),
  foreign key (provider_id, transaction_ref) references ledger_transactions (provider_id, reference),
  constraint ledger_entries_account_check check (
    case when unit = 'credits'
      then account in ('wallet', 'granted', 'purchased', 'used', 'written_off', 'adjusted', 'breakage')
      else account in (
        'receivable', 'carried', 'revenue', 'prepaid', 'tax', 'clearing', 'bank', 'fees', 'fx', 'refunds', 'refunds_due',
        'disputes', 'written_off', 'breakage', 'rounding'
      )
    end
  ),
  constraint ledger_entries_unit_check check (unit = 'credits' or unit ~ '^[A-Z]{3}$')
);

create index ledger_entries_of_customer on ledger_entries (provider_id, customer_ref, account);
create index ledger_entries_of_account on ledger_entries (provider_id, account, unit);

create function ledger_refuse_unbalanced() returns trigger language plpgsql as $$
begin
  if exists (
    select from ledger_entries
    where provider_id = new.provider_id and transaction_ref = new.transaction_ref
    group by unit having sum(amount) <> 0
  ) then
    raise exception 'the entries of transaction % do not add up to nothing', new.transaction_ref;
  end if;
  return null;
end $$;

-- Checked at the commit, when all entries exist.
create constraint trigger ledger_entries_balance after insert on ledger_entries
  deferrable initially deferred for each row execute function ledger_refuse_unbalanced();

create function ledger_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'what is posted stays as it is: post what undoes it';
end $$;

create trigger ledger_transactions_stay before update or delete on ledger_transactions
  for each row execute function ledger_refuse_change();
create trigger ledger_entries_stay before update or delete on ledger_entries
  for each row execute function ledger_refuse_change();

-- Jobs post usage in batches. The usage records contain the debits of wallets.
create trigger audited after insert on ledger_transactions
  for each row when (new.kind <> 'usage')
  execute function audit_row('reference');

-- Each seal covers the postings for a provider since the previous seal, as a link of a chain. Altering, removing or inserting a
-- transaction or an entry later breaks the chain from there on.
create table ledger_seals (
  provider_id text not null,
  number bigint not null,
  -- The seal covers the transactions after this one ...
  after_id bigint not null,
  -- ... up to this one, with their entries.
  up_to_id bigint not null,
  transactions bigint not null,
  -- Hash of the previous seal, and hash of this seal with its content; see `domain/src/money-ledger/ledger-seals.ts`.
  previous_sha256 text not null,
  sha256 text not null,
  sealed_at timestamptz not null,
  primary key (provider_id, number)
);

alter table ledger_seals enable row level security, force row level security;
create policy own_provider on ledger_seals for select to tollgate_requests
  using (provider_id = nullif(current_setting('tollgate.provider_id', true), ''));
create policy all_providers on ledger_seals for select to tollgate_jobs using (true);
create policy appended on ledger_seals for insert to tollgate_jobs with check (true);
grant select on ledger_seals to tollgate_requests, tollgate_jobs;
grant insert on ledger_seals to tollgate_jobs;

create trigger ledger_seals_stay before update or delete or truncate on ledger_seals
  for each statement execute function audit_refuse_change();

-- Credits that were added together. Usage is debited from the grant with the smallest (priority, expiry, creation).
create table credit_grants (
  provider_id text not null,
  transaction_ref text not null,
  customer_ref text not null,
  granted_micros numeric(38, 0) not null check (granted_micros > 0),
  remaining_micros numeric(38, 0) not null check (remaining_micros between 0 and granted_micros),
  priority smallint not null default 0,
  expires_at timestamptz,
  created_at timestamptz not null,
  -- The part of the remaining credits that usage has debited but that is not posted yet, as of the last change of the order of
  -- the grants. It is stored at each such change, so that usage is posted to the grant that paid for it at that time, even if
  -- other grants were added or expired since.
  in_flight_micros numeric(38, 0) not null default 0,
  -- The remaining credits when the grant expired, which were posted to `breakage`.
  expired_micros numeric(38, 0) not null default 0 check (expired_micros >= 0),
  -- When the expiry job next checks the grant, from its expiry until nothing is left. Null: it does not check it.
  expiry_due_at timestamptz,
  -- The amount paid for it without tax, in minor units. Null: it was not paid for.
  paid numeric(38, 0) check (paid >= 0),
  paid_currency text check (paid_currency ~ '^[A-Z]{3}$'),
  primary key (provider_id, transaction_ref),
  foreign key (provider_id, transaction_ref) references ledger_transactions (provider_id, reference),
  foreign key (provider_id, customer_ref) references wallets (provider_id, customer_ref),
  constraint credit_grants_in_flight_check check (in_flight_micros between 0 and remaining_micros),
  constraint credit_grants_paid_in_check check ((paid is null) = (paid_currency is null))
);

create index credit_grants_left on credit_grants (provider_id, customer_ref) where remaining_micros > 0;
create index credit_grants_expiring on credit_grants (expiry_due_at) where expiry_due_at is not null;

-- How much each posting of usage debited from each grant, so that reverting the posting returns it to the same grant.
create table credit_burns (
  provider_id text not null,
  transaction_ref text not null,
  grant_ref text not null,
  micros numeric(38, 0) not null check (micros > 0),
  primary key (provider_id, transaction_ref, grant_ref),
  foreign key (provider_id, transaction_ref) references ledger_transactions (provider_id, reference),
  foreign key (provider_id, grant_ref) references credit_grants (provider_id, transaction_ref)
);

-- The position up to which usage is posted, per partition of the log. It belongs to no provider, and is only valid for this
-- log.
create table debit_positions (
  log_partition integer primary key,
  next_offset bigint not null check (next_offset >= 0)
);
