-- Charging saved cards, and what customers say of themselves for the tax.
-- Written by: control-plane and billing-runner.

alter table auto_recharges
  -- When somebody last looked whether credits have run low.
  add column looked_at timestamptz,
  -- Where a card is being set up for it, at the processor.
  add column setup_intent_id text;

create index auto_recharges_to_look_at on auto_recharges (looked_at nulls first)
  where status = 'active' and in_flight_payment_intent_id is null;

drop trigger audited on auto_recharges;
create trigger audited after insert or update or delete on auto_recharges
  for each row execute function audit_row('customer_ref', 'looked_at');

create table customer_tax_details (
  provider_id text not null,
  customer_ref text not null,
  is_business boolean not null,
  business_name text,
  -- ISO 3166-1 alpha-2: of the business, or of the customer.
  country text check (country ~ '^[A-Z]{2}$'),
  tax_id text,
  tax_id_type text check (tax_id_type in ('eu_vat', 'gb_vat', 'us_ein')),
  updated_at timestamptz not null,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create trigger audited after insert or update or delete on customer_tax_details
  for each row execute function audit_row('customer_ref');

alter table payment_intents
  -- Of `original_amount`; null while nobody asked for a breakdown. The price before that, and by which rule it is taxed.
  add column tax jsonb;
