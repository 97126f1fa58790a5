-- When a purchase changes to its scheduled plan: a change to a cheaper plan keeps the notice of the plan that is held.
-- Written by: control-plane.

alter table purchases
  -- The start of the first period of `scheduled_plan`. Null: the next renewal, as older versions note it.
  add column scheduled_plan_at timestamptz;
