import type { SelectDue } from './claims.ts'

/** Checkouts that nobody completed in their time. */
export const selectAbandonedCheckouts: SelectDue = (sql, now) => sql`
  select provider_id, session_id as item, expires_at as due_at from checkout_sessions
  where expires_at <= ${now} and status = 'active'`
