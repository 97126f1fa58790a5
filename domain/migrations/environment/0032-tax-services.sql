-- The servers of providers that decide taxes in place of the built-in rule.
-- Written by: control-plane.

create table tax_services (
  provider_id text primary key,
  url text not null,
  -- The encrypted secret that signs requests.
  secret text not null,
  -- While it does not answer. Hold: nothing is invoiced until it does. Built_in: the built-in rule decides.
  on_failure text not null check (on_failure in ('hold', 'built_in')),
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create trigger audited after insert or update or delete on tax_services
  for each row execute function audit_row('provider_id');
