import { createCustomer } from '../customers/create-or-link-customer.ts'
import { findCustomer, findCustomerByEmail, type Customer } from '../customers/repository.ts'
import type { CycleMode } from '../periods/periods.ts'
import { provisionDefaultPlan } from '../purchases/provision-default-plan.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { Queryable } from '@tollgate/platform/database/database'

/**
 * Returns the customer who owns a verified email address: it is the customer's own, or the provider named the customer so. The
 * customer's own address wins: references may be user names, which people choose.
 */
export async function findCustomerOfEmail(
  sql: Queryable,
  providerId: string,
  email: string,
): Promise<Customer | undefined> {
  return (
    (await findCustomerByEmail(sql, providerId, email)) ??
    (await findCustomer(sql, providerId, email))
  )
}

/**
 * The customer who signed in and let a client act for it; created now where the provider has none with the email address.
 * Starts the free default plan of the product if the customer has no purchase of it, and never a plan that costs something.
 */
export async function enrolSignedInCustomer(
  work: UnitOfWork,
  signedIn: { readonly email: string; readonly name: string | null },
  product: { readonly productRef: string; readonly cycleMode: CycleMode },
): Promise<Customer> {
  const { email, name } = signedIn
  const { productRef, cycleMode } = product
  const customer =
    (await findCustomerOfEmail(work.sql, work.providerId, email)) ??
    (await createCustomer(
      work,
      { email, name, telephone: null, externalRef: null, metadata: {} },
      productRef,
    ))
  await provisionDefaultPlan(work, customer, productRef, cycleMode)
  return customer
}
