-- Requests for a code of the authorization server are counted for their network: each makes a row that lives for 15 minutes.
-- Written by: control-plane.

alter table customer_auth_attempts
  drop constraint customer_auth_attempts_kind_check,
  add check (kind in (
    'code-email', 'code-email-day', 'code-tags', 'code-address', 'guess-address', 'register-address',
    'authorize-address'
  ));
