-- Emails of providers to their customers.
-- Written by: control-plane. The rows of `emails` are inserted by the statement that inserts their event: see
-- `domain/src/outbox/repository.ts`.

-- The language of the customer's emails, with or without a region, such as `pt-BR`. Null: the language of the provider.
alter table customers add column locale text;

create table email_settings (
  provider_id text primary key,
  -- The kinds of email that are sent. Empty: none.
  kinds text[] not null default '{}',
  -- Name of the sender. Null: the name of the provider.
  sender_name text check (sender_name <> ''),
  -- Address for answers. Null: the support address of the provider.
  reply_to text check (reply_to <> ''),
  -- Language for customers without one of their own. Null: English.
  locale text,
  -- The only addresses to which a mail server gets emails of the sandbox.
  sandbox_recipients text[] not null default '{}',
  updated_at timestamptz not null
);

-- The queue: one row for each event of which the provider sends emails. The text is rendered for each attempt and not stored.
create table emails (
  sequence bigint generated always as identity primary key,
  provider_id text not null,
  -- Derived from the id of the event, so that an event has one email. The Message-ID contains it.
  reference text not null unique,
  event_id text not null,
  kind text not null,
  -- Null: the event names no customer.
  customer_ref text,
  -- Sending: the text is being handed to the mail server. Unknown: it was handed over, and the answer did not arrive.
  state text not null check (state in ('pending', 'sending', 'sent', 'unknown', 'failed', 'skipped')),
  -- Number of attempts with a known outcome.
  attempts smallint not null default 0,
  due_at timestamptz not null,
  -- Number of the claim of the current attempt, and the end of its lease. Null: it is not claimed.
  claim int not null default 0,
  leased_until timestamptz,
  -- The address of the last attempt. It and the answer are erased with the customer.
  recipient text,
  -- Why the email failed, was skipped, or is sent again.
  reason text,
  -- The first characters of the last answer of the mail server.
  answer text,
  -- Whether the customer was deleted, so that an attempt in progress does not store the address again.
  is_erased boolean not null default false,
  -- Part of the links in the email, the same for every attempt.
  token uuid not null default gen_random_uuid(),
  finished_at timestamptz,
  -- When a person last had it sent again.
  requested_at timestamptz,
  created_at timestamptz not null,
  check ((state in ('pending', 'sending')) = (finished_at is null)),
  check (state <> 'sending' or leased_until is not null)
) with (fillfactor = 70);

create index emails_due on emails (due_at, sequence) where state = 'pending';
create index emails_sending on emails (leased_until) where state = 'sending';
create index emails_newest on emails (provider_id, created_at, sequence);
create index emails_of_customer on emails (provider_id, customer_ref, created_at, sequence);
create index emails_by_token on emails (token);
create index emails_finished on emails (finished_at) where finished_at is not null;

-- Addresses that get no more emails.
create table email_suppressions (
  provider_id text not null,
  reference text not null unique,
  -- In lower case.
  email text not null,
  -- Unsubscribed: only kinds that a customer can unsubscribe from. The others: every kind.
  reason text not null check (reason in ('bounced', 'complained', 'manual', 'unsubscribed')),
  -- The answer of the mail server, or a note of a person.
  detail text,
  created_at timestamptz not null,
  primary key (provider_id, reference)
);

create unique index email_suppressions_of_address on email_suppressions (provider_id, email, (reason = 'unsubscribed'));
create index email_suppressions_newest on email_suppressions (provider_id, created_at, reference);

-- Emails are derived from events. Only a request to send one again is a change by a person.
create trigger audited after update on emails
  for each row when (new.requested_at is distinct from old.requested_at) execute function audit_row('reference');
create trigger audited after insert or update or delete on email_settings
  for each row execute function audit_row('provider_id');
create trigger audited after insert or update or delete on email_suppressions
  for each row execute function audit_row('reference');

-- Messages at `/inbox` also have the HTML text and the attachment of an email.
alter table inbox_messages add column html text, add column attachment_name text, add column attachment bytea;

-- Links in emails lead to the portal of all products, and open it each time until they expire.
alter table customer_links alter column product_ref drop not null;
alter table customer_links add column is_reusable boolean not null default false;
alter table customer_links add check (product_ref is not null or purpose = 'portal');

-- Whether `customer.credit.expiring` was emitted for the grant.
alter table credit_grants add column is_expiry_announced boolean not null default false;
create index credit_grants_announced on credit_grants (expires_at)
  where expires_at is not null and remaining_micros > 0 and not is_expiry_announced;
