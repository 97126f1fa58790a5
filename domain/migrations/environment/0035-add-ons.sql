-- Add-ons: what customers have beside their plans and pay with each period. A purchase keeps its add-ons in `plan_snapshot`.
-- Written by: control-plane.

alter table invoice_lines drop constraint invoice_lines_kind_check;
alter table invoice_lines add constraint invoice_lines_kind_check check (kind in (
  'recurring', 'add_on', 'setup_fee', 'one_time', 'credits', 'usage', 'late_usage', 'minimum', 'proration', 'discount',
  'item', 'tax', 'carried_in'
)) not valid;
alter table invoice_lines validate constraint invoice_lines_kind_check;

create table add_ons (
  provider_id text not null,
  reference text not null unique,
  product_ref text not null,
  -- Printed on invoices.
  name text not null,
  description text,
  -- Price of one for a period, and what is charged once when it is attached, in minor units of the currency.
  price bigint not null check (price >= 0),
  setup_fee bigint not null check (setup_fee >= 0),
  -- The currency, in upper case, and the billing cycle of its plans.
  currency text not null,
  billing_cycle text not null,
  billing_cycle_days integer,
  -- Null: any number.
  quantity_max integer check (quantity_max > 0),
  -- [{"meter", "raises", "units"}]: what each one raises.
  raises jsonb not null check (jsonb_typeof(raises) = 'array'),
  -- Plans that it may be attached to. No foreign key: a plan can be deleted, and then nobody attaches it there.
  plan_refs text[] not null,
  -- When a customer had it first. Null: nobody has it, so that it can be deleted.
  first_attached_at timestamptz,
  archived_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference),
  foreign key (provider_id, product_ref) references products (provider_id, reference)
);

create index add_ons_of_product on add_ons (provider_id, product_ref, created_at desc);

create trigger audited after insert or update or delete on add_ons
  for each row execute function audit_row('reference');
