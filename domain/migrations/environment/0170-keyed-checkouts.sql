-- A request for a checkout may carry an idempotency key: repeated, it gets the same checkout. Known until the row is swept.
-- Written by: control-plane.

alter table checkout_sessions
  add column idempotency_key text,
  -- Hexadecimal SHA-256 of what was asked for; another request with the same key is refused.
  add column input_sha256 text,
  add check ((idempotency_key is null) = (input_sha256 is null));

create unique index checkout_sessions_keys on checkout_sessions (provider_id, idempotency_key)
  where idempotency_key is not null;
