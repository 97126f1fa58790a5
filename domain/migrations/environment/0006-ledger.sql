-- The ledger: credits and money in double entry, and the wallets that the entries of credits add up to.
-- Written by: control-plane and billing-runner. Every posting of credits locks the row of the wallet first.

-- What the entries of one wallet add up to. The command `ledger verify` compares it with the entries.
create table wallets (
  provider_id text not null,
  customer_ref text not null,
  -- 10^-6 credits: all that was ever put in, less what was taken out otherwise than by usage. Published: the hot state
  -- takes usage from it as it happens, some time before that is posted here.
  granted_micros numeric(38, 0) not null default 0 check (granted_micros >= 0),
  -- What is left by the entries. Usage takes no more than what is there, so it never falls below zero.
  balance_micros numeric(38, 0) not null default 0 check (balance_micros >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- 10^-6 credits: all that was ever taken out otherwise than by usage. As what was put in, it only grows, so a wallet with the
  -- same two sums is in the same state.
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
  -- Of two postings with one key the second one is a repetition: told of the first if it asks for the same, else refused.
  transaction_key text not null,
  input_sha256 text not null,
  -- Null for a payout, which concerns no customer.
  customer_ref text,
  reason text,
  -- What whoever posted it was told, for whoever repeats it.
  result jsonb not null,
  created_at timestamptz not null,
  -- The invoice that it is about, so that what the ledger says of an invoice is a sum.
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
-- Those that took credits out of the wallet in the hot state: a publication ends what was held for them.
create index ledger_transactions_of_removals on ledger_transactions (provider_id, customer_ref, created_at)
  where kind in ('adjustment', 'expiry', 'take_back');
-- Seals, and reconciliation of what was made in a time.
create index ledger_transactions_in_order on ledger_transactions (provider_id, id);
create index ledger_transactions_bought on ledger_transactions (created_at) where kind = 'top_up';
create index ledger_transactions_paid on ledger_transactions (provider_id, created_at) where kind = 'payment_succeeded';

-- Two or more lines for each transaction, which add up to zero.
--
-- Accounts of credits: `wallet` is what the provider owes to the customer, so what is put in is positive there. `granted`,
-- `purchased`, `adjusted` (by hand) and `written_off` are where credits come from; `used` and `breakage` (expired unused) are
-- where they go.
--
-- Accounts of money: what the provider has or is owed is positive, what it earned or owes is negative.
--   receivable: issued and not paid              carried: waits for the customer's next invoice
--   revenue                                      prepaid: paid for credits; becomes revenue as they are used
--   tax: collected, and owed to a state          clearing: at the payment processor
--   bank: paid out                               fees: of the payment processor
--   fx: exchanged on the way, in both currencies
--   refunds: paid back                           refunds_due: being paid back
--   disputes: withdrawn by a customer's bank     written_off: will not be paid
--   breakage: paid for credits that nobody will use
--   rounding: less than a minor unit, added up
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

-- At the commit, when all lines are there.
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

-- Usage is posted by machines, in batches; what wallets paid for it is in the usage records.
create trigger audited after insert on ledger_transactions
  for each row when (new.kind <> 'usage')
  execute function audit_row('reference');

-- Seals: each seals what was posted for a provider since the seal before, as a link of a chain. Whoever alters, removes or
-- inserts a transaction or an entry later breaks the chain from there on.
create table ledger_seals (
  provider_id text not null,
  number bigint not null,
  -- Seals the transactions after this one ...
  after_id bigint not null,
  -- ... up to this one, with their entries.
  up_to_id bigint not null,
  transactions bigint not null,
  -- Of the seal before, and of this one with what it seals; see `domain/src/money-ledger/ledger-seals.ts`.
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

-- Credits that were put in at once. Usage is taken from the grant with the smallest (priority, expiry, creation).
create table credit_grants (
  provider_id text not null,
  transaction_ref text not null,
  customer_ref text not null,
  granted_micros numeric(38, 0) not null check (granted_micros > 0),
  remaining_micros numeric(38, 0) not null check (remaining_micros between 0 and granted_micros),
  priority smallint not null default 0,
  expires_at timestamptz,
  created_at timestamptz not null,
  -- The part of what remains that usage took and that is not posted yet, as far as it was noted. It is noted whenever the order
  -- of the grants changes, so that usage is posted to the grant that paid for it then, whatever was added or expired since.
  in_flight_micros numeric(38, 0) not null default 0,
  -- What was left when the grant expired, and went to `breakage`.
  expired_micros numeric(38, 0) not null default 0 check (expired_micros >= 0),
  -- When the job of expiry looks at the grant, from its expiry on until nothing is left. Null: it does not.
  expiry_due_at timestamptz,
  -- What was paid for it without tax, minor units. Null: it was given.
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

-- Which posting of usage took how much of which grant, so that undoing the posting puts it back there.
create table credit_burns (
  provider_id text not null,
  transaction_ref text not null,
  grant_ref text not null,
  micros numeric(38, 0) not null check (micros > 0),
  primary key (provider_id, transaction_ref, grant_ref),
  foreign key (provider_id, transaction_ref) references ledger_transactions (provider_id, reference),
  foreign key (provider_id, grant_ref) references credit_grants (provider_id, transaction_ref)
);

-- How far usage is posted, of each partition of the log. It belongs to no provider, and to this log alone.
create table debit_positions (
  log_partition integer primary key,
  next_offset bigint not null check (next_offset >= 0)
);
