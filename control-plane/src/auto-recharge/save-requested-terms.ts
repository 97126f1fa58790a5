import {
  decideRechargeTerms,
  type AutoRechargeContext,
  type AutoRechargeDecision,
  type AutoRechargeRequest,
  type RechargeFault,
} from '@tollgate/domain/auto-recharge/decide-recharge-terms'
import {
  findAutoRecharge,
  saveAutoRecharge,
  type AutoRecharge,
} from '@tollgate/domain/auto-recharge/repository'
import { findCard } from '@tollgate/domain/cards/repository'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import { findExchangeRate } from '@tollgate/domain/money/exchange-rates'
import { findTaxTerms } from '@tollgate/domain/invoices/read-tax'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { CommitParts } from '@tollgate/domain/publishing/commit-and-publish'
import { commit } from '../access/commit.ts'
import { read, type ReadParts } from '../access/read.ts'
import { displayRateOf } from '../access/require.ts'

export type SaveTermsOutcome =
  | { readonly kind: 'saved'; readonly recharge: AutoRecharge }
  | { readonly kind: 'refused'; readonly reason: string; readonly fault: RechargeFault }

/** Stores the requested terms of automatic recharge if they are allowed. Otherwise stores nothing and returns the reason. */
export async function saveRequestedTerms(
  parts: CommitParts,
  operation: Operation,
  customerRef: string,
  request: AutoRechargeRequest,
): Promise<SaveTermsOutcome> {
  const decision = await decideRequestedTerms(parts, operation, customerRef, request)
  if (decision.kind === 'refuse') {
    const { reason, fault } = decision
    return { kind: 'refused', reason, fault }
  }
  const recharge = await commit(parts, operation, (work) =>
    saveAutoRecharge(work, customerRef, decision.terms),
  )
  return { kind: 'saved', recharge }
}

/**
 * Decides on the requested terms: returns the terms as they would be stored, or the reason why they are refused. Writes nothing.
 */
export async function decideRequestedTerms(
  parts: ReadParts,
  operation: Operation,
  customerRef: string,
  request: AutoRechargeRequest,
): Promise<AutoRechargeDecision> {
  return decideRechargeTerms(
    request,
    await readContext(parts, operation, customerRef, request.currency),
  )
}

async function readContext(
  parts: ReadParts,
  operation: Operation,
  customerRef: string,
  currency: string,
): Promise<AutoRechargeContext> {
  const { providerId } = operation
  const displayRate = await displayRateOf(parts, operation)
  return read(parts, operation, async (sql) => {
    const merchant = await findMerchant(sql, providerId)
    const card = await findCard(sql, providerId, customerRef)
    const sale = { customerRef, productRef: null, plan: null, currency, lines: [] }
    return {
      // The built-in rule is enough to tell whether the cap can pay one top-up. Each top-up asks the tax service.
      taxTerms: await findTaxTerms({ sql, ...operation }, sale),
      stored: await findAutoRecharge(sql, providerId, customerRef),
      supportedCurrencies: [displayRate.currency, ...merchant.topupCurrencies],
      displayRate,
      topupRate: await findExchangeRate(sql, providerId, currency),
      hasReusableCard: card?.reusable ?? false,
    }
  })
}
