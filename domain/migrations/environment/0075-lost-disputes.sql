-- What a dispute does beyond the ledger: it can take away access, and the card that it is about is not charged any more.
-- Written by: control-plane and billing-runner.

alter table payment_intents
  -- The means of payment that paid, by the processor's id. Null: not paid, or before this was kept: see `payment_method_id`.
  add column paid_method_id text;

alter table payment_disputes
  -- The means of payment that had paid, by the processor's id. Null: before this was kept.
  add column payment_method_id text,
  -- Money that the processor had moved for it when it was last looked at: a look with fewer movements is an older one.
  add column movements integer not null default 0,
  -- What the payment paid for is suspended, and its card is not charged: lost, or open where the provider wants it so.
  add column takes_access boolean not null default false;

create index payment_disputes_of_intent on payment_disputes (provider_id, intent_ref);
create index payment_disputes_of_card on payment_disputes (provider_id, payment_method_id)
  where takes_access;

alter table merchants
  -- Which dispute takes access away; null: one that is lost.
  add column suspend_on_dispute text check (suspend_on_dispute in ('lost', 'opened'));
