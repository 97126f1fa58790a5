-- A refund undoes a change of plan: what was counted in the windows of the undone purchases counts in the window of the
-- purchase that is active again.
-- Written by: control-plane and billing-runner.

alter table purchases
  -- [{"window": of an undone purchase, "into": the one that the purchase counts in}], oldest first. Null: none.
  add column windows_taken_in jsonb;
