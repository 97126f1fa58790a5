-- Who scheduled a change of plan, and what was charged for a period that a change kept.
-- Written by: control-plane and billing-runner, with the other fields of the scheduled change and of the purchase.

-- True if the provider scheduled the change, for this purchase or with a migration. False: the customer chose it.
alter table purchases add column is_scheduled_by_provider boolean not null default false;

-- Customers schedule no change within a period. A change with a renewal that a provider scheduled before counts as the customer's.
update purchases set is_scheduled_by_provider = true
  where scheduled_migration is not null or scheduled_plan_billing is not null;

-- What was charged for the first period of a purchase that continues the paid period of the one before, in minor units and before
-- discounts. Null: the price of the plan.
alter table purchases add column first_paid bigint;
