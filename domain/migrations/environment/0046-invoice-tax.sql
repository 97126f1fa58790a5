-- Lines of tax on invoices and credit notes.
-- Written by: control-plane and billing-runner.

alter table invoice_lines
  drop constraint invoice_lines_kind_check,
  add constraint invoice_lines_kind_check check (
    kind in (
      'recurring', 'setup_fee', 'one_time', 'usage', 'late_usage', 'proration', 'tax', 'carried_in'
    )
  ),
  -- Tax that the prices contain: told, and not added to them again.
  add column is_contained boolean not null default false,
  add constraint invoice_lines_contained_check check (kind = 'tax' or not is_contained);

create or replace function invoice_refuse_other_total() returns trigger language plpgsql as $$
begin
  if new.total is distinct from (
    select coalesce(sum(amount), 0) from invoice_lines
    where provider_id = new.provider_id and invoice_ref = new.reference and not is_contained
  ) then
    raise exception 'the lines of invoice % do not add up to its total', new.reference;
  end if;
  return null;
end $$;

create or replace function credit_note_refuse_other_total() returns trigger language plpgsql as $$
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
