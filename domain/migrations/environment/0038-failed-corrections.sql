-- A correction of usage that keeps failing is set aside, so that the provider's later ones do not wait for it.
-- Written by: control-plane.

alter table usage_corrections
  drop constraint usage_corrections_status_check,
  add constraint usage_corrections_status_check check (status in ('requested', 'applying', 'applied', 'failed')),
  -- Tries in a row that ended with an unexpected error.
  add column failures integer not null default 0,
  -- The last such error. Null: the last try had none.
  add column failure text,
  -- When a failed correction is tried again.
  add column retry_at timestamptz,
  add constraint usage_corrections_failed check ((status = 'failed') = (retry_at is not null));

drop trigger audited on usage_corrections;
create trigger audited after insert or update or delete on usage_corrections
  for each row execute function
    audit_row('reference',
      'status,read_to,cursor_ms,cursor_id,records_corrected,records_skipped,lease_token,leased_until,applied_at,failures,failure,retry_at');
