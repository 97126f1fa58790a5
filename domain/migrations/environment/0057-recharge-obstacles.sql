-- Why no credits are bought for a wallet that has run low, other than that a charge was declined.
-- Written by: control-plane.

alter table auto_recharges
  -- Known since the last look; null: nothing is in the way.
  add column obstacle text check (obstacle in ('monthly_cap_too_low', 'exchange_rate_missing')),
  -- `YYYY-MM`, UTC: the last month in which its owner was told of one.
  add column obstacle_month text check (obstacle_month ~ '^[0-9]{4}-[0-9]{2}$');
