-- Customers and every reference their usage may come in under.
-- Written by: control-plane.

create table customers (
  provider_id text not null,
  reference text not null unique,
  email text not null,
  name text,
  telephone text,
  external_ref text,
  status text not null check (status in ('active')),
  metadata jsonb not null default '{}',
  -- Counts the publications of this customer's entries. Raised under the row's lock by whoever publishes, so that of
  -- two publishers the later one, which has seen at least as much, wins in the hot state.
  publication_version bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (provider_id, reference)
);

create unique index customers_one_per_email on customers (provider_id, lower(email));

-- The customer's own reference and every external reference that was ever linked. A reference stays with its customer
-- for good: usage was recorded under it, and counters of one reference cannot be split between two customers.
create table customer_references (
  provider_id text not null,
  customer_ref text not null,
  reference text not null,
  linked_at timestamptz not null,
  primary key (provider_id, reference),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index customer_references_of_customer on customer_references (provider_id, customer_ref);
