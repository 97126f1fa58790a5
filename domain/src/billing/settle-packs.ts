import type { Queryable } from '@tollgate/platform/database/database'
import type { Environment } from '@tollgate/schemas/environment'
import type { MeasuringParts } from './measure-usage.ts'
import { listCurrentReferences } from '../customers/repository.ts'
import { findEndOfPrevious } from '../purchases/purchase-fields-repository.ts'
import { listPurchases, type Purchase } from '../purchases/repository.ts'
import { queuePublication, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { listOpenClaims, settlePackClaim } from '../packs/claims-repository.ts'
import {
  decideSettlement,
  type Settlement,
  type SettlementDecision,
} from './decide-pack-settlement.ts'
import { measurePacks, type MeasuredSpan, type PacksToMeasure } from './measure-packs.ts'
import { settleAccount } from './settle-account.ts'
import { openPacks } from '../packs/pack-balance.ts'
import {
  findPackAccount,
  lockPackAccount,
  recordDraws,
  setPacksDue,
  setSettledTo,
  type AccountName,
  type PackAccount,
} from '../packs/repository.ts'

/** Purchases of plans that are read to find the periods to settle, newest first. */
const purchasesReadMax = 100

export type PreparedSettlement =
  | {
      readonly kind: 'due'
      readonly name: AccountName
      readonly settledTo: Date
      readonly settlement: Settlement
      readonly toMeasure: PacksToMeasure | undefined
    }
  /** Nothing is due. When the account is due again was stored. */
  | { readonly kind: 'noted' }
  | { readonly kind: 'nothing' }

/** Decides what is settled next, and reads the input for summing up its usage. */
export async function prepareSettlement(
  work: UnitOfWork,
  name: AccountName,
): Promise<PreparedSettlement> {
  const { sql, providerId, now } = work
  const account = await lockPackAccount(sql, providerId, name)
  if (account === undefined) return { kind: 'nothing' }
  const decision = await readAndDecide({ sql, providerId }, account, now)
  if (decision.kind === 'wait') {
    await setPacksDue(sql, providerId, name, decision.dueAt)
    return { kind: 'noted' }
  }
  const { settledTo } = account
  const { settlement } = decision
  const toMeasure = await readToMeasure({ sql, providerId }, account, settlement)
  return { kind: 'due', name, settledTo, settlement, toMeasure }
}

type ProviderSql = { readonly sql: Queryable; readonly providerId: string }

/** Returns what would be settled now. Locks nothing. */
export async function explainSettlement(
  { sql, providerId }: ProviderSql,
  name: AccountName,
  now: Date,
): Promise<SettlementDecision | undefined> {
  const account = await findPackAccount(sql, providerId, name)
  return account && readAndDecide({ sql, providerId }, account, now)
}

async function readAndDecide(
  { sql, providerId }: ProviderSql,
  account: PackAccount,
  now: Date,
): Promise<SettlementDecision> {
  const purchases = await listUsingPurchases(sql, providerId, account)
  return decideSettlement(account, await listOpenClaims(sql, providerId, account), purchases, now)
}

/** Returns the purchases whose usage packs may pay for, newest first. */
export function listUsingPurchases(
  sql: Queryable,
  providerId: string,
  { customerRef, productRef }: AccountName,
): Promise<Purchase[]> {
  const filter = { customerRef, productRef, isOfPlan: true, rowsMax: purchasesReadMax }
  return listPurchases(sql, providerId, filter)
}

/** Reads the input for summing up the usage of a settlement. Undefined if no usage can use packs. */
export async function readToMeasure(
  { sql, providerId }: ProviderSql,
  account: PackAccount,
  { used }: Settlement,
): Promise<PacksToMeasure | undefined> {
  if (used === undefined) return undefined
  const { customerRef } = account
  const references = await listCurrentReferences(sql, [{ providerId, customerRef }])
  return {
    used,
    meterNames: [...new Set(openPacks(account).map(({ meterName }) => meterName))],
    endOfPrevious: await findEndOfPrevious(sql, providerId, used.purchase),
    customerRefs: references.get(customerRef) ?? [customerRef],
  }
}

/** Sums up the usage of the settlement, with no transaction open. Throws UsageBehindError. */
export function measureSettlement(
  parts: MeasuringParts,
  { environment, providerId }: { readonly environment: Environment; readonly providerId: string },
  { toMeasure }: Extract<PreparedSettlement, { kind: 'due' }>,
): Promise<MeasuredSpan> {
  if (toMeasure === undefined) return Promise.resolve(new Map())
  return measurePacks(parts, environment, providerId, toMeasure)
}

/**
 * Draws the measured usage from the packs, takes back what is left of refunded units, and moves the account on, all in one
 * transaction: after a crash before its commit the account is still due, and after it the same settlement is refused. Returns false
 * and changes nothing if another process settled the account meanwhile.
 */
export async function applySettlement(
  work: UnitOfWork,
  { name, settledTo, settlement, toMeasure }: Extract<PreparedSettlement, { kind: 'due' }>,
  measured: MeasuredSpan,
): Promise<boolean> {
  const { sql, providerId, now } = work
  const account = await lockPackAccount(sql, providerId, name)
  if (account?.settledTo.getTime() !== settledTo.getTime()) return false
  const claims = await listOpenClaims(sql, providerId, name)
  const settled = settleAccount(account, claims, settlement, toMeasure?.used, measured)
  await recordDraws(sql, providerId, settled.draws)
  for (const { claim, takenMicros } of settled.claims) {
    await settlePackClaim(sql, providerId, claim, takenMicros)
  }
  await setSettledTo(sql, providerId, name, settlement.at)
  await setPacksDue(sql, providerId, name, now)
  await queuePublication(work, 'customer', name.customerRef)
  return true
}
