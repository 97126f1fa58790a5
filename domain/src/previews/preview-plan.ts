import type { PlanUpdateInput } from '@tollgate/schemas/http/plans'
import { statusesWithAccess } from '../purchases/repository.ts'
import type { PlanRefusal } from '../catalog/draft-plan.ts'
import { findPlan } from '../catalog/plans-repository.ts'
import { findProduct } from '../catalog/products-repository.ts'
import type { PlanSnapshot } from '../plans/plan-snapshot.ts'
import { findProvider } from '../providers/repository.ts'
import { countPurchases, listPurchases, type PurchaseFilter } from '../purchases/repository.ts'
import { readHolder, type HolderToPrice } from './read-holder.ts'
import { priceHolder, type PricedHolder } from './price-holder.ts'
import type { PreviewAt, PreviewParts } from './preview-invoices.ts'
import { reviseUnsaved, type UnsavedPlan } from './revise-unsaved.ts'
import { readUsageSnapshot } from './usage-reading.ts'

export type PlanToPreview = {
  readonly productRef: string
  readonly planRef: string
  readonly input: PlanUpdateInput
  readonly page: { readonly limit: number; readonly offset: number }
}

export type PlanPreview =
  | { readonly kind: 'product-not-found' }
  | { readonly kind: 'plan-not-found' }
  | PlanRefusal
  | ({ readonly kind: 'previewed' } & PricedPage)

/**
 * Returns what a changed plan would cost each of its holders, on their usage of the last complete period. A holder keeps the terms that
 * the plan had when the purchase began, so the change itself charges no holder anything.
 */
export async function previewPlan(
  parts: PreviewParts,
  at: PreviewAt,
  changed: PlanToPreview,
): Promise<PlanPreview> {
  const decided = await decidePlan(parts, at, changed)
  if (decided.kind !== 'accepted') return decided
  const { productRef, planRef, page } = changed
  const filter = { productRef, planRef, statuses: statusesWithAccess }
  return { kind: 'previewed', ...(await priceHolders(parts, at, filter, page, decided.plan)) }
}

export type PricedPage = {
  /** Newest first. */
  readonly holders: readonly PricedHolder[]
  /** Number of holders on all pages. */
  readonly total: number
  /** Undefined for a page without holders. */
  readonly usageAsOf: Date | undefined
}

/** Prices the last complete period of a page of purchases by their own terms, and by those of the plan. */
export async function priceHolders(
  parts: PreviewParts,
  at: PreviewAt,
  filter: Omit<PurchaseFilter, 'rowsMax'>,
  page: PlanToPreview['page'],
  plan: PlanSnapshot,
): Promise<PricedPage> {
  const { toPrice, total } = await readPage(parts, at, filter, page)
  if (toPrice.length === 0) return { holders: [], total, usageAsOf: undefined }
  const { providerId, environment } = at
  // One snapshot serves all holders, so a usage store that is behind is waited for once.
  const customerRefs = toPrice.flatMap((holder) => holder.customerRefs)
  const { stored, usageAsOf } = await readUsageSnapshot(
    parts,
    environment,
    providerId,
    customerRefs,
  )
  const holders: PricedHolder[] = []
  for (const holder of toPrice) {
    holders.push(await priceHolder(parts, at, holder, plan, stored))
  }
  return { holders, total, usageAsOf }
}

type DecidedPlan = UnsavedPlan | Exclude<PlanPreview, { kind: 'previewed' }>

/** Decides about the change like the request that makes it. */
async function decidePlan(
  { database }: PreviewParts,
  { providerId, environment }: PreviewAt,
  { productRef, planRef, input }: PlanToPreview,
): Promise<DecidedPlan> {
  const own = database.of(providerId)
  const provider = await own.control.read((sql) => findProvider(sql, providerId))
  if (provider === undefined) throw new Error(`provider ${providerId} is gone`)
  return own.in(environment).read(async (sql): Promise<DecidedPlan> => {
    const product = await findProduct(sql, providerId, productRef)
    if (product === undefined) return { kind: 'product-not-found' }
    const plan = await findPlan(sql, providerId, productRef, planRef)
    if (plan === undefined) return { kind: 'plan-not-found' }
    return reviseUnsaved({ sql, providerId }, plan, input, provider.defaultCurrency)
  })
}

function readPage(
  { database }: PreviewParts,
  at: PreviewAt,
  filter: Omit<PurchaseFilter, 'rowsMax'>,
  page: PlanToPreview['page'],
): Promise<{ readonly toPrice: readonly HolderToPrice[]; readonly total: number }> {
  const { providerId, environment } = at
  const rows = database.of(providerId).in(environment)
  return rows.read(async (sql) => {
    const total = await countPurchases(sql, providerId, filter)
    const range = { rowsMax: page.limit, offset: page.offset }
    const toPrice: HolderToPrice[] = []
    for (const purchase of await listPurchases(sql, providerId, { ...filter, ...range })) {
      toPrice.push(await readHolder({ sql, ...at }, purchase))
    }
    return { toPrice, total }
  })
}
