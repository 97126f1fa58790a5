import {
  changeCustomer,
  type ChangeCustomerOutcome,
  type CustomerChange,
} from '../customers/change-customer.ts'
import { findCustomer, lockCustomer } from '../customers/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { endCustomerSignIns } from './end-customer-sign-ins.ts'
import { signInAddressOf } from './find-customer-of-email.ts'

/**
 * Changes the customer. If the customer's sign-in address changes, everything that the owner of the former address had
 * ends in the same transaction: the clients that were allowed, the browsers that were signed in, and the linked
 * upstream accounts.
 */
export async function changeSignedInCustomer(
  work: UnitOfWork,
  anyReference: string,
  change: CustomerChange,
): Promise<ChangeCustomerOutcome> {
  const { sql, providerId, now } = work
  const found = await findCustomer(sql, providerId, anyReference)
  const before = found && (await lockCustomer(sql, providerId, found.reference))
  const outcome = await changeCustomer(work, anyReference, change)
  if (before === undefined || outcome.kind !== 'customer') return outcome
  const former = signInAddressOf(before)
  if (former !== undefined && former !== signInAddressOf(outcome.customer)) {
    const { reference } = before
    await endCustomerSignIns(sql, providerId, { reference, addresses: [former] }, now)
  }
  return outcome
}
