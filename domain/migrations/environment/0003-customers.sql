-- Customers, and every reference under which their usage may be reported.
-- Written by: control-plane.

create table customers (
  provider_id text not null,
  reference text not null unique,
  email text not null,
  name text,
  telephone text,
  external_ref text,
  status text not null check (status in ('active', 'deleted')),
  metadata jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Generated columns, because row-level security keeps conditions with functions that are not known to be leakproof, such as
  -- lower(), from being looked up in an index.
  email_key text not null generated always as (lower(email)) stored,
  name_key text generated always as (lower(name)) stored,
  primary key (provider_id, reference),
  -- The row of a deleted customer remains, because usage, purchases and ledger transactions refer to it.
  constraint customers_erased check (
    status <> 'deleted' or (email = '' and name is null and telephone is null and external_ref is null and metadata = '{}')
  )
);

create unique index customers_one_per_email on customers (provider_id, email_key) where status = 'active';

create index customers_newest on customers (provider_id, created_at desc, reference) where status = 'active';

-- Lists in the console search for prefixes as ranges of bytes, with operators that are known to be leakproof. LIKE is not.
create index customers_by_email on customers (provider_id, email_key text_pattern_ops) where status = 'active';
create index customers_by_name on customers (provider_id, name_key text_pattern_ops) where status = 'active';

-- A sign-in searches for an email address among external references, ignoring case.
create index customers_by_external_ref on customers (provider_id, lower(external_ref))
  where status = 'active' and external_ref is not null;

-- The customer's own reference and every external reference that was ever linked. A reference belongs to its customer until the
-- customer is deleted, because usage was recorded under it. After that, another customer may get it: counters are separated by
-- purchase and period.
create table customer_references (
  provider_id text not null,
  customer_ref text not null,
  reference text not null,
  linked_at timestamptz not null,
  released_at timestamptz,
  primary key (provider_id, customer_ref, reference),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create unique index customer_references_one_holder on customer_references (provider_id, reference) where released_at is null;
create index customer_references_released on customer_references (provider_id, reference) where released_at is not null;
create index customer_references_by_prefix on customer_references (provider_id, reference text_pattern_ops)
  where released_at is null;

-- A version that was assigned to a publication is never assigned again, even if its transaction was rolled back: its document
-- may reach hot state late, and must not replace a later one.
create sequence publication_versions;
select setval('publication_versions', 1);

-- Counts the publications of each customer's entries in a separate table, because updating a row of three columns takes a
-- quarter of the time of updating the customer, which has eight indexes and an audit trigger. It is written while the
-- customer's row is locked, so that of two publishers the later one, which has read the newer state, wins in hot state.
create table customer_publications (
  provider_id text not null,
  customer_ref text not null,
  version bigint not null,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
) with (fillfactor = 50);

-- Details of a customer for taxes and invoices.
create table customer_tax_details (
  provider_id text not null,
  customer_ref text not null,
  is_business boolean not null,
  business_name text,
  -- ISO 3166-1 alpha-2 country of the business or of the customer.
  country text check (country ~ '^[A-Z]{2}$'),
  tax_id text,
  tax_id_type text check (tax_id_type in ('eu_vat', 'gb_vat', 'us_ein')),
  updated_at timestamptz not null,
  customer_name text,
  -- The lines of the postal address, separated by line feeds, without the country.
  address text,
  -- Email address for invoices. Null: the customer's own address.
  email text,
  primary key (provider_id, customer_ref),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create trigger audited after insert or update or delete on customers
  for each row execute function audit_row('reference');

create trigger audited after insert or update or delete on customer_references
  for each row execute function audit_row('customer_ref,reference');

create trigger audited after insert or update or delete on customer_tax_details
  for each row execute function audit_row('customer_ref');
