import type { SelectDue } from './claims.ts'

/** Open invoices that are to be charged, for the first time or again. */
export const selectDueCharges: SelectDue = (sql, now) => sql`
  select provider_id, reference as item, next_charge_at as due_at from invoices
  where next_charge_at <= ${now}`

/** Open invoices that are not charged by themselves any more, and to which nothing has happened for so long. */
export function selectGivenUp(quietMs: number): SelectDue {
  return (sql, now) => sql`
    select provider_id, reference as item, updated_at as due_at from invoices
    where updated_at <= ${new Date(now.getTime() - quietMs)}
      and status = 'open' and next_charge_at is null and not is_held`
}
