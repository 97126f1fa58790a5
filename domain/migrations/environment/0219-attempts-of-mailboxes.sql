-- Long codes for addresses with tags are counted for their mailbox.
-- Written by: control-plane.

alter table customer_auth_attempts
  drop constraint customer_auth_attempts_kind_check,
  add check (kind in (
    'code-email', 'code-email-day', 'code-tags', 'code-address', 'guess-address', 'register-address'
  ));
