import { decideSettlement } from '../billing/decide-pack-settlement.ts'
import type { MeasuredSpan } from '../billing/measure-packs.ts'
import type { PacksToMeasure } from '../billing/measure-packs.ts'
import { settleAccount } from '../billing/settle-account.ts'
import type { Settlement } from '../billing/decide-pack-settlement.ts'
import type { PackClaim } from '../packs/claims-repository.ts'
import type { PackAccount } from '../packs/repository.ts'
import type { Purchase } from '../purchases/repository.ts'

/** The packs of a customer, and what is needed to settle them in advance. */
export type PacksAhead = {
  readonly account: PackAccount
  readonly claims: readonly PackClaim[]
  /** The customer's purchases of the product, as they are when the packs are settled. */
  readonly purchases: readonly Purchase[]
}

/** Reads and sums up the usage of a settlement. */
export type MeasureAhead = (
  account: PackAccount,
  settlement: Settlement,
) => Promise<{ readonly toMeasure: PacksToMeasure | undefined; readonly measured: MeasuredSpan }>

/** Upper limit on the settlements of one preview. */
const settlementsMax = 100

/** Returns the packs after everything that is due until then is settled, in the order of the billing runner. */
export async function settleAhead(
  packs: PacksAhead,
  until: Date,
  measure: MeasureAhead,
): Promise<PacksAhead> {
  let { account, claims } = packs
  for (let settlements = 0; settlements < settlementsMax; settlements += 1) {
    const decision = decideSettlement(account, claims, packs.purchases, until)
    if (decision.kind === 'wait') break
    const { settlement } = decision
    const { toMeasure, measured } = await measure(account, settlement)
    const settled = settleAccount(account, claims, settlement, toMeasure?.used, measured)
    account = settled.account
    const done = new Set(settled.claims.map(({ claim }) => claim.reference))
    claims = claims.filter(({ reference }) => !done.has(reference))
  }
  return { ...packs, account, claims }
}
