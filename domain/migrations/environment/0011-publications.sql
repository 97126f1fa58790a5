-- What must still be published to the hot state.
-- Written by: control-plane. A row is appended in the transaction that changes the target, and removed after the target's state
-- was published. A row that is left tells a later process what a crash kept from being published.
create table publications (
  id bigint generated always as identity primary key,
  provider_id text not null,
  kind text not null check (kind in ('meters', 'offer', 'customer')),
  -- The product's reference, the customer's reference, or '' for the meters of a provider.
  target text not null,
  created_at timestamptz not null default now()
);

create index publications_of_target on publications (kind, provider_id, target);
-- After a loss of the hot state hundreds of thousands of rows wait, and are worked off in their order, kind by kind.
create index publications_waiting on publications (kind, id);
