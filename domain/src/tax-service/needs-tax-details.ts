import type { Queryable } from '@tollgate/platform/database/database'
import { findMerchant } from '../merchants/repository.ts'
import { pipelined } from '../postgres/pipelined.ts'
import { collectsTax } from '../tax/tax-rule.ts'
import { findTaxService } from './repository.ts'

/**
 * Returns whether the price of the provider's sales depends on where the customer is: the provider collects taxes by the built-in rule,
 * or has a server that decides them.
 */
export async function needsTaxDetails(sql: Queryable, providerId: string): Promise<boolean> {
  return (await readNeededDetails(sql, providerId)).isNeeded
}

/** What the taxes of a provider depend on. */
export type NeededDetails = {
  readonly isNeeded: boolean
  /** Whether a customer in the US has to name the state. The built-in rule taxes no sale there, and a tax service can. */
  readonly isStateNeeded: boolean
}

export async function readNeededDetails(
  sql: Queryable,
  providerId: string,
): Promise<NeededDetails> {
  const [merchant, service] = await pipelined([
    findMerchant(sql, providerId),
    findTaxService(sql, providerId),
  ])
  const isStateNeeded = service !== undefined
  return { isNeeded: isStateNeeded || collectsTax(merchant), isStateNeeded }
}
