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
  const [merchant, service] = await pipelined([
    findMerchant(sql, providerId),
    findTaxService(sql, providerId),
  ])
  return service !== undefined || collectsTax(merchant)
}
