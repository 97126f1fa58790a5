-- The credit of a customer's balance pays for purchases too. A payment that is open keeps its part of the credit from all other uses.
-- Written by: control-plane and billing-runner, in the transactions that create or end a payment.

-- The part of the credit that open payments keep for themselves: the sum of their `from_balance`. Other uses see `amount + held`.
alter table carried_amounts add column held numeric(38, 0) not null default 0 check (held >= 0);

-- The part of the price that the balance pays, in minor units of `currency`. The processor charges `original_amount`, the rest.
alter table payment_intents add column from_balance bigint not null default 0 check (from_balance >= 0);
-- A payment of which nothing is left to charge does not exist at the processor.
alter table payment_intents alter column processor_customer_id drop not null;
alter table payment_intents drop constraint payment_intents_original_amount_check;
alter table payment_intents add constraint payment_intents_original_amount_check check (
  original_amount > 0 and processor_customer_id is not null
  or original_amount = 0 and from_balance > 0 and processor_payment_id is null
) not valid;
alter table payment_intents validate constraint payment_intents_original_amount_check;
