import { findReusablePaymentMethod } from '../cards/repository.ts'
import { lockCustomer } from '../customers/repository.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import { executeAttempt } from '../settlement/execute-attempt.ts'
import { mayNotRecharge } from '../payments/disputes-repository.ts'
import { decideTopUpTerms } from '../settlement/decide-terms.ts'
import { openIntent, type OpenedIntent } from '../settlement/open-intent.ts'
import type { PaymentParts } from '../payments/payment-parts.ts'
import { findProcessorCustomer } from '../payments/processor-customers-repository.ts'
import { reconcileIntent } from '../settlement/reconcile-intent.ts'
import { findProvider } from '../providers/repository.ts'
import type { PaymentJobParts } from '../settlement/process-inbox.ts'
import { findTax } from '../invoices/read-tax.ts'
import { paymentLine } from '../invoices/taxed-sale.ts'
import { readCustomerTime } from '../test-clocks/customer-time.ts'
import { jobOperation } from '../unit-of-work/job-operation.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { findWallet, type Wallet } from '../wallet/repository.ts'
import type { Environment } from '@tollgate/schemas/environment'
import type { RechargeRefusal } from '@tollgate/schemas/http/auto-recharge'
import { microsPerUnit } from '@tollgate/schemas/quantity'
import { withObstacle, decideRecharge, decideSpend } from '../auto-recharge/decide-recharge.ts'
import {
  claimRechargesToCheck,
  lockAutoRecharge,
  updateRecharge,
  type AutoRecharge,
  type RechargeName,
  type RechargeObstacle,
} from '../auto-recharge/repository.ts'

/** Recharges that one process checks at a time. */
const rechargesPerRoundMax = 200

/**
 * Milliseconds after which a wallet is checked even if it has not changed, because exchange rates change and monthly
 * limits start again.
 */
const recheckAfterMs = 600_000

/**
 * Buys credits for customers whose wallet balance is below their threshold, with the card that they chose for this.
 * Returns whether more recharges may be due.
 */
export async function rechargeWallets(
  parts: PaymentJobParts,
  environment: Environment,
): Promise<boolean> {
  if (parts.processors.of(environment) === undefined) return false
  const now = parts.now()
  const uncheckedSince = new Date(now.getTime() - recheckAfterMs)
  const pool = parts.everyone.in(environment)
  const due = await claimRechargesToCheck(pool, now, uncheckedSince, rechargesPerRoundMax)
  for (const name of due) {
    try {
      await rechargeWallet(parts, environment, name)
    } catch (error) {
      parts.logger.error(
        { err: error, ...name },
        'could not recharge a wallet; it is checked again later',
      )
    }
  }
  return due.length === rechargesPerRoundMax
}

/**
 * Stores the payment and its key together with a mark in the customer's recharge row, and then charges. If several
 * processes notice the low balance at once, only one of them finds no payment in progress. After a crash behind the
 * commit, the reconciliation finishes the payment, and no other recharge starts until that payment has ended.
 */
async function rechargeWallet(
  parts: PaymentJobParts,
  environment: Environment,
  name: RechargeName,
): Promise<void> {
  const now = await readCustomerTime(parts.database, environment, name, parts.now())
  const beginning = await beginRecharge(parts, environment, name, now)
  if (beginning.kind === 'begun') await beginning.charge()
}

export type BegunRecharge =
  | {
      readonly kind: 'begun'
      /** Calls the processor. If the caller does not call this, the reconciliation of payments makes the call. */
      readonly charge: () => Promise<void>
    }
  | { readonly kind: 'refused'; readonly reason: RechargeRefusal }

/**
 * Begins a recharge if the customer's balance is low and nothing prevents it. When this returns, the payment is stored.
 * `usedMicros` is the usage so far according to the hot state, in 10^-6 credits, if the caller has read it; the ledger
 * receives usage later.
 */
export async function beginRecharge(
  parts: PaymentParts,
  environment: Environment,
  { providerId, customerRef }: RechargeName,
  now: Date,
  usedMicros = 0n,
): Promise<BegunRecharge> {
  const operation = jobOperation('auto-recharge', { providerId, environment }, now)
  const provider = await parts.database
    .of(providerId)
    .control.read((sql) => findProvider(sql, providerId))
  if (provider === undefined) throw new Error(`provider ${providerId} is gone`)
  const opened = await parts.commit(operation, (work) =>
    openRechargePayment(work, customerRef, provider.name, usedMicros),
  )
  if (typeof opened === 'string') return { kind: 'refused', reason: opened }
  const charge = async (): Promise<void> => {
    const result = await executeAttempt(parts, operation, opened.intent, opened.attempt)
    // A declined payment is cancelled at once, and the reconciliation records the failed recharge.
    if (result.kind === 'answered' && result.intent.cancelWanted) {
      await reconcileIntent(parts, operation, opened.intent.reference)
    }
  }
  return { kind: 'begun', charge }
}

/**
 * Returns the smaller of the ledger's balance and the grants minus current usage, in 10^-6 credits, at least 0. Usage
 * only grows, and the grants are read after the lock. So a usage reading from before a top-up never makes the balance
 * too low.
 */
function balanceOf(wallet: Wallet | undefined, usedMicros: bigint): bigint {
  if (wallet === undefined) return 0n
  const leftMicros = wallet.grantedMicros - usedMicros
  const balanceMicros = leftMicros < wallet.balanceMicros ? leftMicros : wallet.balanceMicros
  return balanceMicros > 0n ? balanceMicros : 0n
}

async function openRechargePayment(
  work: UnitOfWork,
  customerRef: string,
  sellerName: string,
  usedMicros: bigint,
): Promise<OpenedIntent | RechargeRefusal> {
  const { sql, providerId, now } = work
  const customer = await lockCustomer(sql, providerId, customerRef)
  const recharge = await lockAutoRecharge(sql, providerId, customerRef)
  if (customer === undefined || recharge === undefined) return 'not_active'
  const wallet = await findWallet(sql, providerId, customerRef)
  const paymentMethodId = await findMethod(work, customerRef, recharge)
  const processorCustomerId = await findProcessorCustomer(sql, providerId, customerRef)
  const decision = decideRecharge({
    recharge,
    balanceCredits: balanceOf(wallet, usedMicros) / BigInt(microsPerUnit),
    thresholdRate: await findExchangeRate(sql, providerId, recharge.thresholdCurrency),
    hasCard: paymentMethodId !== null && processorCustomerId !== undefined,
    now,
  })
  const obstruct = async (obstacle: RechargeObstacle): Promise<RechargeObstacle> => {
    await saveObstacle(work, customerRef, recharge, obstacle)
    return obstacle
  }
  if (decision.kind === 'obstructed') return obstruct(decision.obstacle)
  if (decision.kind === 'wait') {
    if (decision.reason === 'enough') await saveObstacle(work, customerRef, recharge, null)
    return decision.reason
  }
  if (processorCustomerId === undefined) return 'no_card'
  const terms = await termsOfRecharge(work, recharge)
  if (terms === undefined) return obstruct('exchange_rate_missing')
  const { currency, originalAmountMinor } = terms
  const lines = [paymentLine('credits', originalAmountMinor)]
  const tax = await findTax(work, { customerRef, productRef: null, plan: null, currency, lines })
  const spend = decideSpend(recharge, tax?.totalMinor ?? originalAmountMinor, now)
  if (spend.kind === 'obstructed') return obstruct(spend.obstacle)
  if (spend.kind === 'capped') {
    await saveObstacle(work, customerRef, recharge, null)
    return 'capped'
  }
  const begun = `${customerRef}:${now.toISOString()}`
  const opened = await openIntent(work, {
    purpose: 'credit_topup',
    customerRef,
    processorCustomerId,
    productRef: null,
    plan: undefined,
    cycleMode: 'calendar',
    checkoutSessionId: null,
    paymentMethodId,
    keepsCard: false,
    terms,
    tax,
    description: 'Automatic top-up',
    sellerName,
    purchaseRef: null,
    invoiceRef: null,
    idempotencyKey: `auto-recharge:${begun}`,
    inputSha256: sha256OfInput([begun]),
  })
  const inFlightPaymentIntentId = opened.intent.reference
  const claimed = { inFlightPaymentIntentId, lockAcquiredAt: now, updatedAt: now }
  const inProgress = { ...recharge, ...claimed, obstacle: null }
  await updateRecharge(sql, providerId, customerRef, inProgress)
  return opened
}

/** Returns the payment method of the recharge, otherwise the customer's card. Null if neither may buy credits automatically. */
async function findMethod(
  { sql, providerId }: UnitOfWork,
  customerRef: string,
  { paymentMethodId: own }: AutoRecharge,
): Promise<string | null> {
  if (own !== null && !(await mayNotRecharge(sql, providerId, customerRef, own))) return own
  const card = await findReusablePaymentMethod(sql, providerId, customerRef)
  const isUsable = card !== undefined && !(await mayNotRecharge(sql, providerId, customerRef, card))
  return isUsable ? card : null
}

/**
 * Stores the obstacle that prevents a recharge, or null for none. Emits an event for the obstacle unless this was done
 * this month.
 */
async function saveObstacle(
  work: UnitOfWork,
  customerRef: string,
  before: AutoRecharge,
  obstacle: RechargeObstacle | null,
): Promise<void> {
  const { recharge, mustNotify } = withObstacle(before, obstacle, work.now)
  if (!mustNotify && obstacle === before.obstacle) return
  await updateRecharge(work.sql, work.providerId, customerRef, recharge)
  if (!mustNotify || obstacle === null) return
  const failed = { customerRef, paymentIntentId: null, reason: obstacle }
  await recordEvent(work, 'customer.credit.auto_topup_failed', failed)
}

/** Returns the terms of the recharge. Returns undefined if the currency no longer has an exchange rate. */
async function termsOfRecharge({ sql, providerId }: UnitOfWork, recharge: AutoRecharge) {
  const { topupCurrency: currency, topupMinor: amountMinor } = recharge
  const rate = await findExchangeRate(sql, providerId, currency)
  const topUp = { amountMinor, currency, supportedCurrencies: [currency] }
  const decision = decideTopUpTerms(topUp, rate)
  return decision.kind === 'charge' ? decision.terms : undefined
}
