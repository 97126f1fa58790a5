-- Seals of the ledger. Each seals what was posted for a provider since the one before, as a link of a chain: whoever
-- alters, removes or inserts a transaction or an entry later breaks it from there on.
-- Written by: control-plane.

alter table ledger_transactions add column id bigint generated always as identity;
create index ledger_transactions_in_order on ledger_transactions (provider_id, id);

create table ledger_seals (
  provider_id text not null,
  number bigint not null,
  -- Seals the transactions after this one ...
  after_id bigint not null,
  -- ... up to this one, with their entries.
  up_to_id bigint not null,
  transactions bigint not null,
  -- Of the seal before, and of this one with what it seals; see `domain/src/money-ledger/ledger-seals.ts`.
  previous_sha256 text not null,
  sha256 text not null,
  sealed_at timestamptz not null,
  primary key (provider_id, number)
);

alter table ledger_seals enable row level security, force row level security;
create policy own_provider on ledger_seals for select to tollgate_requests
  using (provider_id = nullif(current_setting('tollgate.provider_id', true), ''));
create policy all_providers on ledger_seals for select to tollgate_jobs using (true);
create policy appended on ledger_seals for insert to tollgate_jobs with check (true);
grant select on ledger_seals to tollgate_requests, tollgate_jobs;
grant insert on ledger_seals to tollgate_jobs;

create trigger ledger_seals_stay before update or delete or truncate on ledger_seals
  for each statement execute function audit_refuse_change();
