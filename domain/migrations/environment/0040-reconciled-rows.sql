-- Reconciliation goes through what was made in a time, of all providers: without these it reads whole tables every night.
create index invoices_made on invoices (created_at, reference);
create index payment_intents_made on payment_intents (created_at);
create index payment_intents_paid on payment_intents (succeeded_at) where succeeded_at is not null;
create index payment_refunds_made on payment_refunds (created_at);
create index payment_disputes_made on payment_disputes (created_at);
create index payouts_made on payouts (created_at);
create index ledger_transactions_bought on ledger_transactions (created_at) where kind = 'top_up';
create index ledger_transactions_paid on ledger_transactions (provider_id, created_at) where kind = 'payment_succeeded';
