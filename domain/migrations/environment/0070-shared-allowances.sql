-- What a purchase took over from the one before it, when nobody paid the full price of its period.
-- Written by: control-plane and billing-runner.

alter table purchases
  -- The purchase that gave access until this one took its place. Null: there was none, or it started before this column.
  add column replaces text,
  -- Of the first period: the counter window that it counts in, the instant from which usage counts against its
  -- allowance, and the end of that allowance. Null: the purchase starts a full allowance in a window of its own.
  add column allowance_window text,
  add column allowance_since timestamptz,
  add column allowance_until timestamptz,
  add constraint purchases_allowance_whole check (
    num_nulls(allowance_window, allowance_since, allowance_until) in (0, 3));

-- Who replaced a purchase: asked when a payment is refunded.
create index purchases_replaces on purchases (provider_id, replaces) where replaces is not null;
