-- Who issued a hosted page, and what a checkout may do. Rows from before are not bound and name no issuer; they expire
-- within 15 minutes.
-- Written by: control-plane.

alter table customer_sessions
  -- The actor, as in the audit log: `key:<key>`, `user:<user>`.
  add column issued_by text;

alter table checkout_sessions
  -- The actor: `key:<key>`, or `customer:<reference>` for a customer in the portal.
  add column issued_by text,
  -- The handle of the portal that it was opened in; null: it was issued with a key.
  add column portal_handle text,
  -- False: the checkout sells no plan that ends another purchase. For keys without the scope `manage`.
  add column may_change_plan boolean not null default true;

-- How many of a customer are open at a time is limited.
create index customer_sessions_unused on customer_sessions (provider_id, customer_ref, expires_at)
  where status = 'active';
create index checkout_sessions_unused on checkout_sessions (provider_id, customer_ref, expires_at)
  where status = 'active';

-- The audit log names who issued a page. A session's id lets its holder in, so no entry has it.
create trigger audited after insert on customer_sessions
  for each row execute function audit_row('customer_ref');
create trigger audited after insert on checkout_sessions
  for each row execute function audit_row('reference');
