import type { SelectDue } from './claims.ts'

/** Selects checkouts that expired before they were completed. */
export const selectAbandonedCheckouts: SelectDue = (sql, now) => sql`
  select provider_id, session_id as item, expires_at as due_at from checkout_sessions
  where expires_at <= ${now} and status = 'active'`
