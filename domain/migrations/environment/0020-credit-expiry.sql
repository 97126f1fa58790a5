-- Credits that expire, and credits that are put in or taken out by hand.
-- Written by: control-plane, under the lock of the wallet's row, as all of the ledger.

alter table credit_grants
  -- Of what remains: what usage took that is not posted yet, as far as it has been said. It is said whenever the order of
  -- the grants changes, so that usage is posted to the grant that paid for it then, whatever came or expired since.
  add column in_flight_micros numeric(38, 0) not null default 0,
  -- What was left at its expiry, and went to `breakage`.
  add column expired_micros numeric(38, 0) not null default 0 check (expired_micros >= 0),
  -- When the job is to look at it, from the expiry on until it has found nothing left; null: not, or not any more.
  add column expiry_due_at timestamptz,
  add constraint credit_grants_in_flight_check check (in_flight_micros between 0 and remaining_micros);

create index credit_grants_expiring on credit_grants (expiry_due_at) where expiry_due_at is not null;

-- All that was ever taken out otherwise than by usage. What was put in only grows, and so does this: a wallet with the
-- same two sums is in the same state.
alter table wallets
  add column removed_micros numeric(38, 0) not null default 0 check (removed_micros >= 0);

-- `breakage` is what expired unused, `adjusted` what was put in or taken out by hand. A later migration, which may have
-- come first where somebody followed the development, knows them already.
do $$ begin
  if not exists (
    select from pg_constraint
    where conrelid = 'ledger_entries'::regclass and conname = 'ledger_entries_account_check'
      and pg_get_constraintdef(oid) like '%breakage%'
  ) then
    alter table ledger_transactions
      drop constraint ledger_transactions_kind_check,
      add constraint ledger_transactions_kind_check
        check (kind in ('grant', 'usage', 'write_off', 'adjustment', 'expiry'));
    alter table ledger_entries
      drop constraint ledger_entries_account_check,
      add constraint ledger_entries_account_check
        check (account in ('wallet', 'granted', 'used', 'written_off', 'adjusted', 'breakage'));
  end if;
end $$;

-- Those that took credits out of the hot state's wallet: a publication ends what was held for them.
create index ledger_transactions_of_removals on ledger_transactions (provider_id, customer_ref, created_at)
  where kind in ('adjustment', 'expiry');
