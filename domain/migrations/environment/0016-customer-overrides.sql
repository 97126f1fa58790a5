-- Terms that one customer has instead of those of a product's plans.
-- Written by: control-plane. A change locks the customer first.

create table customer_overrides (
  provider_id text not null,
  customer_ref text not null,
  product_ref text not null,
  -- The current overrides by key of a charge, and the current limits.
  charges jsonb not null,
  usage_limits jsonb not null,
  -- [{"since", "charges", "usageLimits"}], oldest first; the last one is current. A period is priced by the overrides that it
  -- began with, so the earlier ones are kept.
  history jsonb not null check (jsonb_typeof(history) = 'array'),
  updated_at timestamptz not null,
  primary key (provider_id, customer_ref, product_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  foreign key (provider_id, product_ref) references products (provider_id, reference)
);

create trigger audited after insert or update or delete on customer_overrides
  for each row execute function audit_row('customer_ref,product_ref', 'history');
