import { planToBill } from '../overrides/overridden-plan.ts'
import type { PackClaim } from '../packs/claims-repository.ts'
import { drawUsage } from '../packs/draw-usage.ts'
import type { PackAccount, PackDraw } from '../packs/pack-account.ts'
import type { Settlement, UsedSpan } from './decide-pack-settlement.ts'
import type { MeasuredSpan } from './measure-packs.ts'

/** A claim that is settled, with the units that it takes back, 10^-6. Used units stay used. */
export type SettledClaim = { readonly claim: PackClaim; readonly takenMicros: bigint }

export type SettledAccount = {
  readonly draws: readonly PackDraw[]
  readonly claims: readonly SettledClaim[]
  /** The account after the settlement. */
  readonly account: PackAccount
}

/** Draws the measured usage of a span from the packs, and takes back what is left of units that were claimed until then. */
export function settleAccount(
  before: PackAccount,
  openClaims: readonly PackClaim[],
  { at }: Settlement,
  used: UsedSpan | undefined,
  measured: MeasuredSpan,
): SettledAccount {
  const { account: drawn, draws } = drawSpan(before, used, measured)
  const due = openClaims.filter(({ claimedAt }) => claimedAt <= at)
  const claims = settleClaims(drawn, due)
  const packs = drawn.packs.map((pack) => {
    const own = claims.filter(({ claim }) => claim.packRef === pack.purchaseRef)
    const takenMicros = own.reduce((sum, each) => sum + each.takenMicros, pack.takenMicros)
    const claimedMicros = own.reduce(
      (sum, { claim }) => sum - claim.unitsMicros,
      pack.claimedMicros,
    )
    return { ...pack, takenMicros, claimedMicros }
  })
  return { draws, claims, account: { ...drawn, packs, settledTo: at } }
}

function drawSpan(
  before: PackAccount,
  used: UsedSpan | undefined,
  measured: MeasuredSpan,
): Pick<SettledAccount, 'account' | 'draws'> {
  if (used === undefined || used.purchase.planSnapshot === null)
    return { account: before, draws: [] }
  const { purchase, period } = used
  const plan = planToBill(used.purchase.planSnapshot, purchase, period)
  let account = before
  const draws: PackDraw[] = []
  for (const [meterName, usage] of measured) {
    const next = drawUsage(account, { purchase, period, plan, meterName, usage })
    account = next.account
    draws.push(...next.draws)
  }
  return { account, draws }
}

function settleClaims({ packs }: PackAccount, claims: readonly PackClaim[]): SettledClaim[] {
  const left = new Map(
    packs.map((pack) => [pack.purchaseRef, pack.unitsMicros - pack.usedMicros - pack.takenMicros]),
  )
  return claims.map((claim) => {
    const rest = left.get(claim.packRef) ?? 0n
    const takenMicros = claim.unitsMicros < rest ? claim.unitsMicros : rest
    left.set(claim.packRef, rest - takenMicros)
    return { claim, takenMicros }
  })
}
