import type { Environment } from '@tollgate/schemas/environment'
import type { AccountName } from '../packs/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { MeasuringParts } from './measure-usage.ts'
import { applySettlement, measureSettlement, prepareSettlement } from './settle-packs.ts'

/** Largest number of settlements of one call. A runner that was away for long leaves more. */
const settlementsMax = 100

export type SettlingContext = {
  readonly environment: Environment
  readonly providerId: string
  commit<Result>(body: (work: UnitOfWork) => Promise<Result>): Promise<Result>
}

export type SettledPacks = {
  readonly settlements: number
  /** `none`: there is no such account. `some`: settlements are left for the next call. `later`: nothing is due now. */
  readonly left: 'none' | 'some' | 'later'
}

/**
 * Settles all that is due of an account, in the order of time. Order of each settlement: what is due is read and committed; usage is
 * summed up with no transaction open; the units are drawn in one transaction, which also moves the account on. After a crash in
 * between, the account is still due, and nothing was drawn. Throws UsageBehindError.
 */
export async function settleDuePacks(
  measuring: MeasuringParts,
  context: SettlingContext,
  name: AccountName,
): Promise<SettledPacks> {
  for (let settlements = 0; settlements < settlementsMax; settlements += 1) {
    const prepared = await context.commit((work) => prepareSettlement(work, name))
    if (prepared.kind === 'nothing') return { settlements, left: 'none' }
    if (prepared.kind === 'noted') return { settlements, left: 'later' }
    const measured = await measureSettlement(measuring, context, prepared)
    await context.commit((work) => applySettlement(work, prepared, measured))
  }
  return { settlements: settlementsMax, left: 'some' }
}
