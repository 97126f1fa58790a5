-- What a customer owed is written off when it is deleted: usage that no invoice charged, and what waited for the next one.
-- Written by: control-plane.

-- Adds to the kinds that there are: another migration may have added some.
do $$
declare
  kinds text;
begin
  select pg_get_constraintdef(oid) into kinds from pg_constraint
  where conrelid = 'ledger_transactions'::regclass and conname = 'ledger_transactions_kind_check';
  alter table ledger_transactions drop constraint ledger_transactions_kind_check;
  execute 'alter table ledger_transactions add constraint ledger_transactions_kind_check '
    || replace(kinds, 'ARRAY[', 'ARRAY[''usage_written_off''::text, ''carried_written_off''::text, ');
end $$;
