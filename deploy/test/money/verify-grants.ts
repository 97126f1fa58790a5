import { expect } from 'vitest'
import type { Books } from './books.ts'
import { grantedCredits, grantEveryDays } from './grant-credits.ts'

const everyMs = grantEveryDays * 86_400_000

/** The bill job runs at least this often, so a grant that is due for longer was forgotten. */
const lateMs = 86_400_000

type ScheduleRow = {
  readonly reference: string
  readonly purchase_ref: string | null
  readonly status: string
  readonly counted_from: Date
  readonly next_at: Date | null
  readonly grants_due: number
}

type GrantRow = {
  readonly schedule_ref: string
  readonly number: number
  readonly due_at: Date
  readonly outcome: string
  readonly credits: bigint
  readonly rolled_over: bigint
}

/** Checks that each date of a schedule of credits was processed once, and that the ledger has each grant once. */
export async function verifyGrants({ sql, providerId, now }: Books): Promise<void> {
  const schedules = await sql<ScheduleRow[]>`
    select * from credit_schedules where provider_id = ${providerId}`
  const grants = await sql<GrantRow[]>`
    select * from credit_schedule_grants where provider_id = ${providerId} order by number`
  for (const schedule of schedules) {
    const own = grants.filter(({ schedule_ref: of }) => of === schedule.reference)
    verifyDates(schedule, own, now)
  }
  const given = grants.filter(({ outcome }) => outcome === 'granted')
  for (const { credits, rolled_over: rolled } of given) {
    expect(credits).toBe(BigInt(grantedCredits) + rolled)
  }
  const posted = await sql<{ key: string; micros: string }[]>`
    select transaction_key as key, amount::text as micros
    from ledger_transactions join ledger_entries
      on ledger_entries.provider_id = ledger_transactions.provider_id
      and transaction_ref = reference
    where ledger_transactions.provider_id = ${providerId} and account = 'wallet'
      and starts_with(transaction_key, 'scheduled:')`
  expect(posted.map(({ key, micros }) => `${key} ${micros}`).sort()).toEqual(
    given
      .map((each) => `scheduled:${each.schedule_ref}:${each.number} ${each.credits}000000`)
      .sort(),
  )
}

function verifyDates(schedule: ScheduleRow, grants: readonly GrantRow[], now: Date): void {
  const { reference, status, purchase_ref: purchaseRef, next_at: nextAt } = schedule
  expect(grants.map(({ number }) => number)).toEqual(grants.map((_, at) => at + 1))
  expect(schedule.grants_due, reference).toBe(grants.length)
  // Dates within a pause are passed over, so the steps between two grants may be several.
  const steps = grants.map(({ due_at: at }) => (+at - +schedule.counted_from) / everyMs)
  expect(steps.every(Number.isInteger), `${reference} at ${steps.join()}`).toBe(true)
  expect(new Set(steps).size, `${reference} at ${steps.join()}`).toBe(steps.length)
  if (status !== 'active' || purchaseRef !== null || nextAt === null) return
  expect(+nextAt, `the next grant of ${reference}`).toBeGreaterThan(+now - lateMs)
}
