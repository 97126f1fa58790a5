import { lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { decideTaxDetails, type TaxDetailsDecision, type ToldTaxDetails } from './tax-details.ts'
import { findTaxDetails, saveTaxDetails } from './tax-details-repository.ts'

/** Replaces the tax details of a customer if they are valid. Later invoices use them, and issued invoices stay unchanged. */
export async function changeTaxDetails(
  { sql, providerId, now }: Pick<UnitOfWork, 'sql' | 'providerId' | 'now'>,
  customerRef: string,
  told: ToldTaxDetails,
): Promise<TaxDetailsDecision> {
  await lockCustomer(sql, providerId, customerRef)
  const decision = decideTaxDetails(told, await findTaxDetails(sql, providerId, customerRef))
  if (decision.kind === 'accept') {
    await saveTaxDetails(sql, providerId, customerRef, decision.details, now)
  }
  return decision
}
