-- When a purchase was last suspended, beside when access was given back: periods that ended in between leave nothing.
-- Written by: control-plane and billing-runner. They share purchases: whoever changes one locks its row first.

-- Null where access was given back or is missing already: those are told from their anchor on, as they were until now.
alter table purchases add column suspended_at timestamptz;
