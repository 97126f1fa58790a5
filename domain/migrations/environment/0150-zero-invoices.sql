-- A period that costs nothing has an invoice only where its provider wants one.
-- Written by: control-plane.

alter table merchants
  -- Null: none.
  add column issue_zero_invoices boolean;
