-- What must still be published to the hot state.
-- Written by: control-plane. A row is appended in the transaction that changes the target, and removed after the
-- target's state was published. Rows that are left tell a later process what a crash kept from being published.

create table publications (
  id bigint generated always as identity primary key,
  provider_id text not null,
  kind text not null check (kind in ('meters', 'offer', 'customer')),
  -- The product's reference, the customer's reference, or '' for the meters of a provider.
  target text not null,
  created_at timestamptz not null default now()
);

create index publications_of_target on publications (kind, provider_id, target);
