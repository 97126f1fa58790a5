-- Payments for a change of plan within a period.
-- Written by: control-plane and billing-runner.

alter table payment_intents
  -- From which purchase, and when: see `domain/src/payments/payment-intent.ts`. Null: it begins a period of its own.
  add column plan_switch jsonb;
