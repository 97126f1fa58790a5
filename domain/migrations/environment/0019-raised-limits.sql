-- Packs raise a limit within a period. A threshold of the raised limit is emitted again.
-- Written by: control-plane.

alter table alert_firings
  -- 10^-6 units that packs added to the limit when the threshold was reached.
  add column raised_micros bigint not null default 0,
  drop constraint alert_firings_pkey,
  add primary key (provider_id, customer_ref, subject, period, threshold, raised_micros);
