-- Customers' credits, in double entry.
-- Written by: control-plane. Every posting locks the row of the wallet that it changes first.

-- What the entries of one wallet add up to, kept so that nobody has to add them up. `ledger verify` compares.
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
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create table ledger_transactions (
  provider_id text not null,
  reference text not null unique,
  kind text not null check (kind in ('grant', 'usage', 'write_off')),
  -- Of two postings with one key the second one is a repetition: told of the first if it asks for the same, else refused.
  transaction_key text not null,
  input_sha256 text not null,
  customer_ref text not null,
  reason text,
  -- What whoever posted it was told, for whoever repeats it.
  result jsonb not null,
  created_at timestamptz not null,
  primary key (provider_id, reference),
  unique (provider_id, transaction_key),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index ledger_transactions_of_customer
  on ledger_transactions (provider_id, customer_ref, created_at desc);

-- Two or more lines for each transaction, which add up to nothing. Accounts of credits: `wallet` is what we owe the
-- customer, so what is put in is positive there; `granted` and
-- `written_off` are where it comes from, `used` where it goes.
create table ledger_entries (
  provider_id text not null,
  transaction_ref text not null,
  line smallint not null,
  account text not null check (account in ('wallet', 'granted', 'used', 'written_off')),
  customer_ref text not null,
  -- 'credits', or an ISO 4217 code; amounts in 10^-6 credits or in minor units.
  unit text not null,
  amount numeric(38, 0) not null check (amount <> 0),
  primary key (provider_id, transaction_ref, line),
  foreign key (provider_id, transaction_ref) references ledger_transactions (provider_id, reference)
);

create index ledger_entries_of_customer on ledger_entries (provider_id, customer_ref, account);

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

-- What was put in at once. Usage is taken from the one with the smallest (priority, expiry, creation).
create table credit_grants (
  provider_id text not null,
  transaction_ref text not null,
  customer_ref text not null,
  granted_micros numeric(38, 0) not null check (granted_micros > 0),
  remaining_micros numeric(38, 0) not null check (remaining_micros between 0 and granted_micros),
  priority smallint not null default 0,
  expires_at timestamptz,
  created_at timestamptz not null,
  primary key (provider_id, transaction_ref),
  foreign key (provider_id, transaction_ref) references ledger_transactions (provider_id, reference),
  foreign key (provider_id, customer_ref) references wallets (provider_id, customer_ref)
);

create index credit_grants_left on credit_grants (provider_id, customer_ref) where remaining_micros > 0;

-- Which posting of usage took how much of which grant: what undoes it puts it back there.
create table credit_burns (
  provider_id text not null,
  transaction_ref text not null,
  grant_ref text not null,
  micros numeric(38, 0) not null check (micros > 0),
  primary key (provider_id, transaction_ref, grant_ref),
  foreign key (provider_id, transaction_ref) references ledger_transactions (provider_id, reference),
  foreign key (provider_id, grant_ref) references credit_grants (provider_id, transaction_ref)
);

-- How far usage is posted, of each partition of the log. Belongs to no provider, and not to another log.
create table debit_positions (
  log_partition integer primary key,
  next_offset bigint not null check (next_offset >= 0)
);

-- Below this many credits a provider is told that a wallet is low; null: ten units' worth, or 1,000.
alter table merchants add column low_balance_credits bigint check (low_balance_credits >= 0);
