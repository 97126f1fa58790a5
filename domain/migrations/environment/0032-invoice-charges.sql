-- Charging the saved card for an invoice.
-- Written by: control-plane and billing-runner.

alter table payment_intents
  -- The invoice that it pays, where it pays one.
  add column invoice_ref text,
  add foreign key (provider_id, invoice_ref) references invoices (provider_id, reference);

-- However many want to charge an invoice: there is one payment at a time that could be paid.
create unique index payment_intents_one_of_invoice on payment_intents (provider_id, invoice_ref)
  where invoice_ref is not null and status not in ('succeeded', 'canceled', 'failed');
create index payment_intents_of_invoice on payment_intents (provider_id, invoice_ref)
  where invoice_ref is not null;

-- Whether trying a call again that the bank turned down can help: the same card later, another card, the customer alone.
alter table payment_attempts
  add column decline text check (decline in ('soft', 'hard', 'customer'));

alter table invoices
  -- Charges that failed.
  add column failed_charges smallint not null default 0 check (failed_charges >= 0),
  -- When it is charged next, unless somebody does before; null: not by itself.
  add column next_charge_at timestamptz,
  -- The last failure that was counted: told again, it is no other one.
  add column counted_failure text;

create index invoices_to_charge on invoices (next_charge_at) where next_charge_at is not null;

update invoices set next_charge_at = issued_at where status = 'open' and not is_held;
