import type { TaxRegister } from '@tollgate/platform/tax-register/tax-register'
import { findMerchant } from '../merchants/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { checkAfter, isCheckDue } from './tax-id-check.ts'
import { findTaxIdCheck, postponeTaxIdCheck, saveTaxIdCheck } from './tax-id-checks-repository.ts'

/**
 * Asks the register about a VAT number of the EU if that is due, and stores the answer. No transaction is open while the register
 * answers. A crash before the second transaction leaves the check due, and it is repeated.
 */
export async function lookUpTaxId(
  register: TaxRegister,
  commit: <Result>(body: (work: UnitOfWork) => Promise<Result>) => Promise<Result>,
  taxId: string,
): Promise<'done' | 'nothing' | 'unavailable'> {
  const { vatNumber, isDue } = await commit(async ({ sql, providerId, now }) => {
    const check = await findTaxIdCheck(sql, providerId, taxId)
    const merchant = await findMerchant(sql, providerId)
    return { vatNumber: merchant.vatNumber, isDue: isCheckDue(check, now) }
  })
  if (!isDue) return 'nothing'
  const answer = await register.lookUp(taxId, vatNumber)
  const isAnswered = answer.kind !== 'unavailable'
  await commit(({ sql, providerId, now }) => {
    const check = checkAfter(taxId, answer, now)
    return isAnswered
      ? saveTaxIdCheck(sql, providerId, check)
      : postponeTaxIdCheck(sql, providerId, check)
  })
  return isAnswered ? 'done' : 'unavailable'
}
