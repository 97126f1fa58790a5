-- Prices that are agreed with one customer, as part of the customer's overrides.
-- Written by: control-plane, with the other overrides of the customer and product.

-- The current prices of plans. Earlier ones are in the history, whose versions from before this column have none.
alter table customer_overrides add column prices jsonb not null default '[]';
