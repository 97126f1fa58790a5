import type { SelectDue } from './claims.ts'

/** Open invoices that are to be charged, for the first time or again. */
export const selectDueCharges: SelectDue = (sql, now) => sql`
  select provider_id, reference as item, next_charge_at as due_at from invoices
  where next_charge_at <= ${now}`
