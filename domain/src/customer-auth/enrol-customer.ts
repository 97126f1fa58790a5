import { lockProductAgainstRemoval } from '../catalog/products-repository.ts'
import { createCustomer } from '../customers/create-or-link-customer.ts'
import type { Customer } from '../customers/repository.ts'
import type { CycleMode } from '../periods/periods.ts'
import { provisionDefaultPlan } from '../purchases/provision-default-plan.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { BrowserSession } from './browser-sessions.ts'
import { lockCustomerOfEmail } from './find-customer-of-email.ts'
import { linkIdentity } from './upstream-identities.ts'

/**
 * Returns the customer who signed in and allowed a client. Creates the customer if the provider has none with the email
 * address. Activates the product's free default plan if the customer has no purchase of the product, and never a plan
 * that costs something.
 *
 * Returns undefined and changes nothing if the customer must sign in again, because the customer was deleted or got
 * another address at the same time, or because the upstream account now belongs to another address.
 */
export async function enrolSignedInCustomer(
  work: UnitOfWork,
  signedIn: BrowserSession,
  product: { readonly productRef: string; readonly cycleMode: CycleMode },
): Promise<Customer | undefined> {
  const { email, name, identity } = signedIn
  const { productRef, cycleMode } = product
  const { sql, providerId } = work
  // All code locks the product before the customer's row.
  await lockProductAgainstRemoval(sql, providerId, productRef)
  const owner = await lockCustomerOfEmail(sql, providerId, email)
  if (owner === 'gone') return undefined
  const requireOwner = async (): Promise<Customer> =>
    owner ??
    (await createCustomer(
      work,
      { email, name, telephone: null, externalRef: null, locale: null, metadata: {} },
      productRef,
    ))
  const customer =
    identity === null
      ? await requireOwner()
      : await linkIdentity(work, { identity, email }, requireOwner)
  if (customer === undefined) return undefined
  await provisionDefaultPlan(work, customer, productRef, cycleMode)
  return customer
}
