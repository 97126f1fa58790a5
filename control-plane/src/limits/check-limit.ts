import { listReferences, type Customer } from '@tollgate/domain/customers/repository'
import { answerStopped, isStopped, withBudgetStop } from '@tollgate/domain/budgets/entitled-stop'
import { listBudgetStops } from '@tollgate/domain/budgets/repository'
import { allowedMicros } from '@tollgate/domain/entitlements/allowed-units'
import { purchasePeriodAt } from '@tollgate/domain/entitlements/compile-entitlement'
import {
  answerChargeCheck,
  hasCharges,
  limitedMeter,
  limitStates,
  metersToRead,
  type ChargedEntitlement,
  type MeterToRead,
  type MeterUsage,
} from '@tollgate/domain/entitlements/charge-limits'
import { periodAt, type EntitledPeriod } from '@tollgate/domain/entitlements/counting-windows'
import { answerLimitCheck } from '@tollgate/domain/entitlements/limit-answer'
import { answerWithoutPurchase } from '@tollgate/domain/entitlements/no-purchase-answer'
import { findPackAccount } from '@tollgate/domain/packs/repository'
import { unixSeconds } from '@tollgate/domain/periods/periods'
import { planOffer, offerOf } from '@tollgate/domain/catalog/plan-offer'
import type { Plan } from '@tollgate/domain/plans/plan'
import { listPlans } from '@tollgate/domain/catalog/plans-repository'
import type { Product } from '@tollgate/domain/catalog/products-repository'
import { decideProvision } from '@tollgate/domain/purchases/decide-provision'
import { entitlementOf } from '@tollgate/domain/purchases/entitlement-of'
import {
  provisionDefaultPlan,
  type ProvisionOutcome,
} from '@tollgate/domain/purchases/provision-default-plan'
import { readProvisionState } from '@tollgate/domain/purchases/read-provision-state'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { PublishedOffer } from '@tollgate/schemas/hot-state/documents'
import type { LimitsRequest, LimitsResponse } from '@tollgate/schemas/http/limits'
import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import { refusals } from '../errors.ts'
import { commit } from '../access/commit.ts'
import { read } from '../access/read.ts'
import { requireCustomer, requireProduct, requireProvider } from '../access/require.ts'
import type { Wallets } from '../wallets/wallets.ts'
import { ensurePublished, type PublishedParts } from './ensure-published.ts'
import type { PeriodUsage } from './period-usage.ts'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'

export type LimitCheckParts = CommitParts &
  PublishedParts & { readonly wallets: Wallets; readonly usage: PeriodUsage }

/**
 * Runs the complete limit check, for every case that the data plane cannot decide from published entries: first calls, customers
 * without a purchase, purchases that ended, entries that were lost or not renewed for a long time, and an unavailable hot state. It
 * publishes the entries, so that the data plane answers the next check of the same kind.
 */
export async function checkLimit(
  parts: LimitCheckParts,
  operation: Operation,
  request: LimitsRequest,
): Promise<LimitsResponse> {
  const customer = await requireCustomer(parts, operation, request.customerRef)
  const product = await requireProduct(parts, operation, request.productRef)

  const plans = await read(parts, operation, (sql) =>
    listPlans(sql, operation.providerId, [product.reference]),
  )
  const found = await findOrProvision(parts, operation, customer, product, plans)
  switch (found.kind) {
    case 'purchase':
      return answerForPurchase(parts, operation, request, found.purchase, offerOf(product, plans))
    case 'no-purchase':
      return answerWithoutPurchase({
        offer: offerOf(product, plans),
        awaitingPlan: found.awaitingPlan && planOffer(found.awaitingPlan),
        creditMicros: await readCreditsIfShown(
          parts,
          operation,
          customer.reference,
          found.awaitingPlan,
        ),
      })
    case 'product-not-found':
      throw refusals.productNotFound(request.productRef)
  }
}

/** Reads the credits only if the response shows them. */
function readCreditsIfShown(
  parts: { readonly wallets: Wallets },
  operation: Operation,
  customerRef: string,
  awaitingPlan: Plan | undefined,
): Promise<bigint> {
  if (awaitingPlan?.type !== 'usage-based') return Promise.resolve(0n)
  return parts.wallets.read({ ...operation, customerRef })
}

/** Decides with a plain read first, without a lock. Most customers already have a purchase, or cannot get one. */
async function findOrProvision(
  parts: CommitParts,
  operation: Operation,
  customer: Customer,
  product: Product,
  plans: readonly Plan[],
): Promise<ProvisionOutcome> {
  const { providerId, now } = operation
  const query = { customerRef: customer.reference, productRef: product.reference, plans, now }
  const state = await read(parts, operation, (sql) => readProvisionState(sql, providerId, query))
  const decision = decideProvision({ product, plans, ...state, now })
  switch (decision.kind) {
    case 'has-access':
      return { kind: 'purchase', purchase: decision.purchase }
    case 'no-purchase':
      return decision
    case 'enrol': {
      const { cycleMode } = await requireProvider(parts, operation)
      return commit(parts, operation, (work) =>
        provisionDefaultPlan(work, customer, product.reference, cycleMode),
      )
    }
  }
}

async function answerForPurchase(
  parts: LimitCheckParts,
  operation: Operation,
  request: LimitsRequest,
  purchase: Purchase,
  offer: PublishedOffer,
): Promise<LimitsResponse> {
  const { providerId, environment, now } = operation
  const { customerRef } = purchase
  const [customerRefs, packs, stops] = await read(parts, operation, (sql) =>
    Promise.all([
      listReferences(sql, providerId, customerRef),
      findPackAccount(sql, providerId, purchase),
      listBudgetStops(sql, [{ providerId, customerRef }]),
    ]),
  )
  const compiled = entitlementOf(purchase, customerRefs, now, packs)
  if (compiled === undefined || purchase.planSnapshot === null) {
    throw new Error(`purchase ${purchase.reference} gives access without a plan`)
  }
  const stop = stops.get(customerRef)?.get(purchase.productRef)
  const entitlement = withBudgetStop(compiled, stop)
  if (isStopped(entitlement, now.getTime())) {
    const named = request.meterName || request.usageType || requestsMeterName
    return answerStopped(entitlement, named, offer)
  }
  const period = purchasePeriodAt(purchase, purchase.planSnapshot, now)
  const { productRef } = purchase
  const counted = {
    environment,
    providerId,
    productRef,
    entitlement,
    periodStartSecond: unixSeconds(period.start),
    nowMs: now.getTime(),
  }
  const prepare = (): Promise<void> => ensurePublished(parts, counted)
  const readCredits = async (): Promise<bigint> =>
    entitlement.credit === null
      ? 0n
      : await parts.wallets.read({ environment, providerId, customerRef: purchase.customerRef })
  if (hasCharges(entitlement)) {
    const charged = { entitlement, request, offer, nowSecond: unixSeconds(now) }
    const readMeters = (meters: readonly MeterToRead[]): Promise<ReadonlyMap<string, MeterUsage>> =>
      parts.usage.readMeters(counted, meters, prepare)
    return answerForCharges(
      { ...charged, period: periodAt(entitlement, counted.periodStartSecond) },
      readMeters,
      readCredits,
    )
  }
  const used = await parts.usage.read(counted, requestsMeterName, prepare)
  const { usedMicros, carriedOverMicros } = used
  const creditMicros = await readCredits()
  const startSecond = unixSeconds(period.start)
  return answerLimitCheck({
    entitlement,
    usedMicros,
    allowedMicros: allowedMicros(entitlement, { startSecond }, carriedOverMicros, used.packs),
    packs: used.packs,
    offer,
    creditMicros,
  })
}

type ChargedPurchase = {
  readonly entitlement: ChargedEntitlement
  readonly period: EntitledPeriod
  readonly nowSecond: number
  readonly request: LimitsRequest
  readonly offer: PublishedOffer
}

async function answerForCharges(
  { request, offer, ...charged }: ChargedPurchase,
  readMeters: (meters: readonly MeterToRead[]) => Promise<ReadonlyMap<string, MeterUsage>>,
  readCredits: () => Promise<bigint>,
): Promise<LimitsResponse> {
  const { includeLimits: isDetailed = false } = request
  const meterName = limitedMeter(charged.entitlement, request)
  const meters = metersToRead(charged.entitlement, meterName, charged.nowSecond)
  // The counters may have to be published first, and only then the wallet is read.
  const usedByMeter = await readMeters(meters.length === 0 ? [unlimitedMeter] : meters)
  const check = { ...charged, meterName, usedByMeter, creditMicros: await readCredits() }
  return answerChargeCheck({ ...check, states: limitStates(check), isDetailed, offer })
}

/** Read if no meter decides, since reading publishes the entries. */
const unlimitedMeter: MeterToRead = { meterName: requestsMeterName, spans: [] }
