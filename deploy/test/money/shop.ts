import { jobActor } from '@tollgate/domain/audit/actor'
import { createOrLinkCustomer } from '@tollgate/domain/customers/create-or-link-customer'
import type { Customer } from '@tollgate/domain/customers/repository'
import { changeMerchant } from '@tollgate/domain/merchants/repository'
import { createPlan } from '@tollgate/domain/catalog/create-plan'
import { createProduct } from '@tollgate/domain/catalog/create-product'
import { createProvider } from '@tollgate/domain/providers/create-provider'
import { runUnitOfWork } from '@tollgate/domain/unit-of-work/run-unit-of-work'
import type { UnitOfWork } from '@tollgate/domain/unit-of-work/unit-of-work'
import type { PlanCreateInput } from '@tollgate/schemas/http/plans'
import { addCoupons, type CouponRefs } from './coupons.ts'
import { addSupport } from './support-add-on.ts'
import { operationIn } from './operation-in.ts'
import type { Stores } from './stores.ts'

const rest = {
  type: 'recurring',
  billingCycle: 'monthly',
  prorationPolicy: 'proportional',
} as const
const centAUnit = { billingCycle: 'monthly', creditsPerUnit: 100 } as const

/** Prices in US cents. A change between the first 3 plans is prorated for the rest of the period. */
const plans = {
  gold: { ...rest, price: 4_900 },
  /** The first 2 periods of a purchase have other prices. */
  silver: {
    ...{ ...rest, price: 1_900 },
    ramp: [
      { periods: 1, price: 900 },
      { periods: 1, price: 1_400 },
    ],
  },
  /** 29 dollars per month and 1 cent per unit, billed at each 5 dollars. */
  metered: { ...rest, ...centAUnit, type: 'hybrid', basePrice: 2_900, billAtUnbilledMinor: 500 },
  /** The same prices on one invoice. */
  combined: { ...centAUnit, type: 'hybrid', basePrice: 2_900, billingStrategy: 'combined' },
  /** 1 cent for each unit after the first 100, billed at each 5 dollars. */
  'pay as you go': {
    ...centAUnit,
    type: 'usage-based',
    billingModel: 'post-paid',
    freeUnits: 100,
    billAtUnbilledMinor: 500,
  },
  /** 1 cent for each unit, and 7 dollars per month at least. */
  committed: {
    ...centAUnit,
    type: 'usage-based',
    billingModel: 'post-paid',
    minimumCommitment: 700,
  },
} satisfies Record<string, Omit<PlanCreateInput, 'name'>>

export type PlanName = keyof typeof plans
export const planNames = Object.keys(plans) as readonly PlanName[]

/** A provider that sells some plans of one product, and credits. */
export type ShopOf<Name extends string> = {
  readonly providerId: string
  readonly productRef: string
  readonly planRefs: Readonly<Record<Name, string>>
}

/** Coupons and the add-on that a shop offers. */
export type Extras = { readonly couponRefs: CouponRefs; readonly supportRef: string }

export type Shop = ShopOf<PlanName> & Extras

/** Opens the shop of a Swedish provider who collects tax. */
export async function openShop(stores: Stores): Promise<Shop> {
  const merchant = { country: 'SE', vatNumber: 'SE556012579001' }
  const shop = await openShopWith(stores, plans, merchant)
  const { gold, silver, metered } = shop.planRefs
  return { ...shop, ...(await addExtras(stores, shop, [gold, silver, metered])) }
}

/** Adds coupons, and an add-on for these plans. */
export async function addExtras(
  stores: Stores,
  shop: Pick<ShopOf<string>, 'providerId' | 'productRef'>,
  planRefs: readonly string[],
): Promise<Extras> {
  const couponRefs = await addCoupons(stores, shop.providerId)
  return { couponRefs, supportRef: await addSupport(stores, shop, planRefs) }
}

/** Opens a shop. `merchant` is the tax information of the provider. A provider without it collects no tax. */
export async function openShopWith<Name extends string>(
  { postgres, hotState, clock }: Stores,
  plans: Readonly<Record<Name, Omit<PlanCreateInput, 'name'>>>,
  merchant: Parameters<typeof changeMerchant>[2],
): Promise<ShopOf<Name>> {
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
  const planRefs: Partial<Record<Name, string>> = {}
  for (const name of Object.keys(plans) as Name[]) {
    const given = { name, ...plans[name] } as PlanCreateInput
    const outcome = await within((work) => createPlan(work, productRef, given, 'USD'))
    if (outcome.kind !== 'plan') throw new Error(JSON.stringify(outcome))
    planRefs[name] = outcome.plan.reference
  }
  return { providerId, productRef, planRefs: planRefs as ShopOf<Name>['planRefs'] }
}

let customers = 0

export async function addCustomer(
  { postgres, clock }: Stores,
  { providerId }: Pick<Shop, 'providerId'>,
): Promise<Customer> {
  customers += 1
  const email = `c${customers}@example.com`
  const request = {
    email,
    name: null,
    telephone: null,
    externalRef: null,
    locale: null,
    metadata: {},
  }
  const operation = operationIn(providerId, new Date(clock.now()))
  const { result } = await runUnitOfWork(postgres.database, operation, (work) =>
    createOrLinkCustomer(work, request),
  )
  if (result.kind !== 'customer') throw new Error(result.kind)
  return result.customer
}
