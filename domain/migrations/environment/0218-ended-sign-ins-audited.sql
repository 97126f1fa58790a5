-- The audit log names who ended all sign-ins: their keys are removed. Keys that grow old are removed by nobody in particular.
-- Written by: control-plane and the command `sign-ins end-all`.

create trigger audited after delete on oauth_signing_keys
  for each row when (current_setting('tollgate.operation', true) = 'sign-ins end-all')
  execute function audit_row('kid');
