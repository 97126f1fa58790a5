-- Attempts that are taken back one by one leave a window without any.
alter table sign_in_attempts
  drop constraint sign_in_attempts_attempts_check,
  add check (attempts >= 0);
