-- A plan that a purchase changes to at its next renewal, by the proration policy `none`.
-- Written by: control-plane and billing-runner.

alter table purchases
  -- The plan as it was chosen: what the renewal charges. Null: none was chosen.
  add column scheduled_plan jsonb;
