import { holdProduct } from '../catalog/products-repository.ts'
import { createCustomer } from '../customers/create-or-link-customer.ts'
import type { Customer } from '../customers/repository.ts'
import type { CycleMode } from '../periods/periods.ts'
import { provisionDefaultPlan } from '../purchases/provision-default-plan.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { BrowserSession } from './browser-sessions.ts'
import { lockCustomerOfEmail } from './find-customer-of-email.ts'
import { linkIdentity } from './upstream-identities.ts'

/**
 * The customer who signed in and let a client act for it; created now where the provider has none with the email address.
 * Starts the free default plan of the product if the customer has no purchase of it, and never a plan that costs something.
 * Returns undefined, and changes nothing, if the customer has to sign in again: it was deleted or got another address at this moment, or
 * the account that it signed in with stands for another address by now.
 */
export async function enrolSignedInCustomer(
  work: UnitOfWork,
  signedIn: BrowserSession,
  product: { readonly productRef: string; readonly cycleMode: CycleMode },
): Promise<Customer | undefined> {
  const { email, name, identity } = signedIn
  const { productRef, cycleMode } = product
  const { sql, providerId } = work
  // Before the customer's row, as everywhere.
  await holdProduct(sql, providerId, productRef)
  const owner = await lockCustomerOfEmail(sql, providerId, email)
  if (owner === 'gone') return undefined
  const requireOwner = async (): Promise<Customer> =>
    owner ??
    (await createCustomer(
      work,
      { email, name, telephone: null, externalRef: null, metadata: {} },
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
