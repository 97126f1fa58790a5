-- What the merged migrations make otherwise than those that they replace: columns that nothing has written for long are gone, and
-- requests for a code of the authorization server are counted for their network.

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
