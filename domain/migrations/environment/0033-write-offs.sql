-- Giving up on invoices that nobody is charged for any more.
-- Written by: control-plane and billing-runner.

create index invoices_given_up on invoices (updated_at)
  where status = 'open' and next_charge_at is null and not is_held;
