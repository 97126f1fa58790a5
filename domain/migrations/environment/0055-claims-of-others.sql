-- Credits of a payment that one refund or dispute had taken, and that are another's once it is undone: claimed without an
-- amount of their own.
-- Written by: control-plane and billing-runner.

alter table credit_take_backs
  drop constraint credit_take_backs_amount_check,
  add constraint credit_take_backs_amount_check check (amount >= 0);
