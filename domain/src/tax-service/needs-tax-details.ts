import type { Queryable } from '@tollgate/platform/database/database'
import { findMerchant } from '../merchants/repository.ts'
import { pipelined } from '../postgres/pipelined.ts'
import { collectsTax } from '../tax/tax-rule.ts'
import { findTaxService } from './repository.ts'

/** Details of customers on which the taxes of a provider depend. */
export type NeededDetails = {
  /** Whether the price depends on the customer's country: the provider collects taxes by the built-in rule, or has a tax service. */
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
