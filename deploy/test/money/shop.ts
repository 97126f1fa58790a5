import { jobActor } from '@tollgate/domain/audit/actor'
import { createOrLinkCustomer } from '@tollgate/domain/customers/create-or-link-customer'
import type { Customer } from '@tollgate/domain/customers/repository'
import { changeMerchant } from '@tollgate/domain/merchants/repository'
import { createPlan } from '@tollgate/domain/plans/create-plan'
import { createProduct } from '@tollgate/domain/products/create-product'
import { createProvider } from '@tollgate/domain/providers/create-provider'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { Operation, UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { environment, type Stores } from './stores.ts'

/** A provider of Sweden that sells two plans of one product, and credits. */
export type Shop = {
  readonly providerId: string
  readonly productRef: string
  readonly planRefs: { readonly gold: string; readonly silver: string }
}

export async function openShop({ postgres, hotState, clock }: Stores): Promise<Shop> {
  const { database } = postgres
  const now = new Date(clock.now())
  const fields = {
    name: 'Acme',
    email: null,
    defaultCurrency: 'USD',
    cycleMode: 'calendar',
  } as const
  const actor = jobActor('test')
  const { providerId } = await createProvider(database, hotState, actor, fields, now)
  const within = async <Result>(body: (work: UnitOfWork) => Promise<Result>): Promise<Result> => {
    const operation = operationIn(providerId, now)
    return (await runUnitOfWork(database, operation, body)).result
  }
  const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
  await within(({ sql }) => changeMerchant(sql, providerId, merchant, now))
  const product = await within((work) =>
    createProduct(work, {
      name: 'API',
      description: null,
      imageUrl: null,
      productType: null,
      isMcpPay: false,
      config: null,
      metadata: {},
      taxBehavior: null,
    }),
  )
  const productRef = product.reference
  const plan = async (name: string, price: number): Promise<string> => {
    const given = { name, type: 'recurring', billingCycle: 'monthly', price } as PlanCreateInput
    const outcome = await within((work) => createPlan(work, productRef, given, 'USD'))
    if (outcome.kind !== 'plan') throw new Error(JSON.stringify(outcome))
    return outcome.plan.reference
  }
  const planRefs = { gold: await plan('Gold', 4_900), silver: await plan('Silver', 1_900) }
  return { providerId, productRef, planRefs }
}

let customers = 0

export async function addCustomer(
  { postgres, clock }: Stores,
  { providerId }: Shop,
): Promise<Customer> {
  customers += 1
  const email = `c${customers}@example.com`
  const asked = { email, name: null, telephone: null, externalRef: null, metadata: {} }
  const operation = operationIn(providerId, new Date(clock.now()))
  const { result } = await runUnitOfWork(postgres.database, operation, (work) =>
    createOrLinkCustomer(work, asked),
  )
  if (result.kind !== 'customer') throw new Error(result.kind)
  return result.customer
}

export function operationIn(providerId: string, now: Date): Operation {
  const by = { actor: jobActor('test'), requestId: null, idempotencyKey: null }
  return { ...by, providerId, environment, now }
}
