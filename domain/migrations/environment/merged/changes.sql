-- Differences between the merged migrations and those that they replace: columns that are no longer written are removed, and
-- requests for codes of the authorization server are counted per network.

alter table products drop column balance, drop column total_transactions;

drop trigger audited on customers;
alter table customers drop column publication_version;
create trigger audited after insert or update or delete on customers
  for each row execute function audit_row('reference');

alter table invoice_lines validate constraint invoice_lines_kind_check;

alter table customer_auth_attempts
  drop constraint customer_auth_attempts_kind_check,
  add constraint customer_auth_attempts_kind_check check (
    kind in (
      'code-email', 'code-email-day', 'code-tags', 'code-address', 'guess-address', 'register-address', 'authorize-address'
    )
  );
