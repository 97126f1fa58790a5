-- Discounts can take off the whole price of what is bought once.
-- Written by: control-plane, in the transaction of the sale.

-- A payment of which nothing is left to charge does not exist at the processor. The next migration validates the payments of before.
alter table payment_intents drop constraint payment_intents_original_amount_check;
alter table payment_intents add constraint payment_intents_original_amount_check check (
  original_amount > 0 and processor_customer_id is not null
  or original_amount = 0 and (balance_part > 0 or discounts is not null) and processor_payment_id is null
) not valid;
