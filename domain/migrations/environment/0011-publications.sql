-- Targets that must still be published to hot state.
-- Written by: control-plane. A row is appended in the transaction that changes the target, and removed after the target's state
-- was published. After a crash, a later process publishes the remaining rows.
create table publications (
  id bigint generated always as identity primary key,
  provider_id text not null,
  kind text not null check (kind in ('meters', 'offer', 'customer')),
  -- The product's reference, the customer's reference, or '' for the meters of a provider.
  target text not null,
  created_at timestamptz not null default now()
);

create index publications_of_target on publications (kind, provider_id, target);
-- After a loss of hot state, hundreds of thousands of rows wait and are published in order, kind by kind.
create index publications_waiting on publications (kind, id);
