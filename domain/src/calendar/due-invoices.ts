import type { SelectDue } from './claims.ts'

/** Selects open invoices that are due for their first or their next charge. */
export const selectDueCharges: SelectDue = (sql, now) => sql`
  select provider_id, reference as item, next_charge_at as due_at from invoices
  where next_charge_at <= ${now}`

/** Selects open invoices that are no longer charged automatically and have not changed for `quietMs`. */
export function selectGivenUp(quietMs: number): SelectDue {
  return (sql, now) => sql`
    select provider_id, reference as item, updated_at as due_at from invoices
    where updated_at <= ${new Date(now.getTime() - quietMs)}
      and status = 'open' and next_charge_at is null and not is_held`
}
