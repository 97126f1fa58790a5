-- Invoices: the amounts that customers were charged, and their computation.
-- Written by: control-plane and billing-runner. Every change of an invoice locks its row first.

-- Numbers without gaps. A number is assigned in the transaction that issues the document. Its lock on the row makes other
-- transactions wait.
create table document_numbers (
  provider_id text not null,
  kind text not null check (kind in ('invoice', 'credit_note')),
  last_number bigint not null check (last_number > 0),
  primary key (provider_id, kind)
);

create table invoices (
  provider_id text not null,
  reference text not null unique,
  -- Null for a draft.
  number bigint check (number > 0),
  status text not null check (
    status in ('draft', 'open', 'paid', 'void', 'uncollectible', 'partly_refunded', 'refunded')
  ),
  customer_ref text not null,
  -- Null if only credits were bought.
  purchase_ref text,
  -- The plan of the purchase at the time of pricing.
  plan_snapshot jsonb,
  -- Currency of the amounts, which are in minor units.
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  -- Sum of the lines. It may be negative for a credit.
  total numeric(38, 0) not null,
  -- Amount carried over to the customer's next invoice, because it is too small to be charged or a credit.
  carried numeric(38, 0) not null default 0,
  paid numeric(38, 0) not null default 0 check (paid >= 0),
  -- Amount of credit notes that were issued before the payment.
  credited numeric(38, 0) not null default 0 check (credited >= 0),
  refunded numeric(38, 0) not null default 0 check (refunded between 0 and paid),
  -- The amount exceeds the processor's maximum, so a person decides how it is paid.
  is_held boolean not null default false,
  -- Seller and buyer at the time of issue. Null for a draft.
  parties jsonb,
  issued_at timestamptz,
  paid_at timestamptz,
  -- When it became void or uncollectible.
  closed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Number of failed charges.
  failed_charges smallint not null default 0 check (failed_charges >= 0),
  -- Time of the next automatic charge. Null: it is not charged automatically.
  next_charge_at timestamptz,
  -- Id of the last counted failure, so that the same failure is not counted twice.
  counted_failure text,
  primary key (provider_id, reference),
  unique (provider_id, number),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference),
  foreign key (provider_id, purchase_ref) references purchases (provider_id, reference),
  check (status = 'draft' or status = 'void' or (number is not null and issued_at is not null and parties is not null)),
  check (status <> 'paid' or total = carried + paid + credited)
);

create index invoices_newest on invoices (provider_id, created_at desc, reference);
create index invoices_of_customer on invoices (provider_id, customer_ref, created_at desc);
create index invoices_of_purchase on invoices (provider_id, purchase_ref, created_at desc);
create index invoices_by_status on invoices (provider_id, status, created_at desc);
create index invoices_to_charge on invoices (next_charge_at) where next_charge_at is not null;
-- Open invoices that are no longer charged, to be written off.
create index invoices_given_up on invoices (updated_at)
  where status = 'open' and next_charge_at is null and not is_held;
-- Unpaid invoices of a customer are looked up before a purchase starts or changes.
create index invoices_owed on invoices (provider_id, customer_ref)
  where status in ('open', 'uncollectible');
-- Reconciliation reads a time range of all providers.
create index invoices_made on invoices (created_at, reference);

create table invoice_lines (
  provider_id text not null,
  invoice_ref text not null,
  line smallint not null,
  kind text not null check (
    kind in ('recurring', 'setup_fee', 'one_time', 'credits', 'usage', 'late_usage', 'proration', 'tax', 'carried_in')
  ),
  description text not null,
  -- The time range that the line charges, from the start up to the end. Null if it charges no time range.
  period_start timestamptz,
  period_end timestamptz,
  -- All inputs of its price, see `domain/src/pricing/line-inputs.ts`.
  inputs jsonb not null,
  amount numeric(38, 0) not null,
  -- The amount before rounding as a fraction, and the rounding remainder with the same denominator.
  exact_numerator numeric not null,
  exact_denominator numeric not null check (exact_denominator > 0),
  residual_numerator numeric not null,
  -- Tax that is included in the prices. It is shown and not added again.
  is_contained boolean not null default false,
  primary key (provider_id, invoice_ref, line),
  foreign key (provider_id, invoice_ref) references invoices (provider_id, reference),
  check ((period_start is null) = (period_end is null)),
  check (period_start < period_end),
  constraint invoice_lines_contained_check check (kind = 'tax' or not is_contained),
  check (exact_numerator = amount * exact_denominator + residual_numerator),
  check (2 * abs(residual_numerator) <= exact_denominator)
);

-- The invoice that charges a period of a purchase. The row is inserted in the transaction that creates the invoice, so of
-- several concurrent transactions for a period only one succeeds. An invoice may charge the base price of one period and the
-- usage of another.
create extension if not exists btree_gist with schema control;

create table billed_periods (
  provider_id text not null,
  purchase_ref text not null,
  part text not null check (part in ('recurring', 'usage')),
  period_start timestamptz not null,
  period_end timestamptz not null,
  invoice_ref text not null,
  billed_at timestamptz not null,
  primary key (provider_id, purchase_ref, part, period_start),
  foreign key (provider_id, purchase_ref) references purchases (provider_id, reference),
  foreign key (provider_id, invoice_ref) references invoices (provider_id, reference)
    deferrable initially deferred,
  check (period_start < period_end),
  -- Periods with different starts cannot overlap either, so no moment is charged twice.
  constraint billed_periods_apart exclude using gist (
    provider_id with =, purchase_ref with =, part with =, tstzrange(period_start, period_end) with &&
  )
);

create index billed_periods_of_invoice on billed_periods (provider_id, invoice_ref);

-- The amount for a customer's next invoice, by currency. A negative amount is a credit.
create table carried_amounts (
  provider_id text not null,
  customer_ref text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  amount numeric(38, 0) not null,
  updated_at timestamptz not null,
  primary key (provider_id, customer_ref, currency),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

-- Corrections of amounts that an invoice should not have charged.
create table credit_notes (
  provider_id text not null,
  reference text not null unique,
  number bigint not null check (number > 0),
  invoice_ref text not null,
  customer_ref text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  total numeric(38, 0) not null check (total > 0),
  -- Whether the amount reduces the amount due, is carried over to the next invoice, or is refunded.
  settles text not null check (settles in ('invoice', 'balance', 'refund')),
  reason text,
  created_at timestamptz not null,
  -- The processor's id of the refund for which it was written.
  refund_ref text,
  -- When it was voided because the refund failed. A voided credit note has no effect.
  voided_at timestamptz,
  primary key (provider_id, reference),
  unique (provider_id, number),
  foreign key (provider_id, invoice_ref) references invoices (provider_id, reference),
  foreign key (provider_id, customer_ref) references customers (provider_id, reference)
);

create index credit_notes_of_invoice on credit_notes (provider_id, invoice_ref);
create unique index credit_notes_of_refund on credit_notes (provider_id, refund_ref)
  where refund_ref is not null;

create table credit_note_lines (
  provider_id text not null,
  credit_note_ref text not null,
  line smallint not null,
  invoice_ref text not null,
  invoice_line smallint not null,
  amount numeric(38, 0) not null check (amount > 0),
  primary key (provider_id, credit_note_ref, line),
  foreign key (provider_id, credit_note_ref) references credit_notes (provider_id, reference),
  foreign key (provider_id, invoice_ref, invoice_line) references invoice_lines (provider_id, invoice_ref, line)
);

create index credit_note_lines_of_invoice on credit_note_lines (provider_id, invoice_ref, invoice_line);

create function invoice_refuse_other_total() returns trigger language plpgsql as $$
begin
  if new.total is distinct from (
    select coalesce(sum(amount), 0) from invoice_lines
    where provider_id = new.provider_id and invoice_ref = new.reference and not is_contained
  ) then
    raise exception 'the lines of invoice % do not add up to its total', new.reference;
  end if;
  return null;
end $$;

create function credit_note_refuse_other_total() returns trigger language plpgsql as $$
begin
  if new.total is distinct from (
    select coalesce(sum(credited.amount), 0) from credit_note_lines credited
    join invoice_lines charged on charged.provider_id = credited.provider_id
      and charged.invoice_ref = credited.invoice_ref and charged.line = credited.invoice_line
    where credited.provider_id = new.provider_id and credit_note_ref = new.reference
      and not is_contained
  ) then
    raise exception 'the lines of credit note % do not add up to its total', new.reference;
  end if;
  return null;
end $$;

-- Checked at the commit, when all lines exist.
create constraint trigger invoices_add_up after insert on invoices
  deferrable initially deferred for each row execute function invoice_refuse_other_total();
create constraint trigger credit_notes_add_up after insert on credit_notes
  deferrable initially deferred for each row execute function credit_note_refuse_other_total();

create function invoice_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'what was charged stays as it is: write a credit note';
end $$;

create trigger invoice_lines_stay before update or delete on invoice_lines
  for each row execute function invoice_refuse_change();

-- A credit note can be voided once.
create trigger credit_notes_stay before delete or update of provider_id, reference, number, invoice_ref,
  customer_ref, currency, total, settles, reason, created_at, refund_ref on credit_notes
  for each row execute function invoice_refuse_change();
create trigger credit_notes_stay_void before update of voided_at on credit_notes
  for each row when (old.voided_at is not null) execute function invoice_refuse_change();

create trigger credit_note_lines_stay before update or delete on credit_note_lines
  for each row execute function invoice_refuse_change();
create trigger invoices_are_kept before delete on invoices
  for each row execute function invoice_refuse_change();

-- An assigned number, and the document it belongs to, never change.
create trigger invoices_stay before update of reference, customer_ref, purchase_ref, plan_snapshot, currency, total on invoices
  for each row execute function invoice_refuse_change();
create trigger invoices_keep_numbers before update of number, parties, issued_at on invoices
  for each row when (old.number is not null) execute function invoice_refuse_change();

create trigger audited after insert or update or delete on invoices
  for each row execute function audit_row('reference');
create trigger audited after insert or update or delete on credit_notes
  for each row execute function audit_row('reference');
