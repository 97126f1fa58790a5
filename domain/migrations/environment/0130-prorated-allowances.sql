-- A change of plan within a period shares out the units as it shares out the price.
-- Written by: control-plane.

alter table purchases
  -- Units that the price of the first period includes, 10^-6. Null: as many as the plan includes.
  add column first_included_micros bigint;
