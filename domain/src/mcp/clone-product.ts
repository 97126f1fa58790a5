import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { insertPlan, listPlans } from '../catalog/plans-repository.ts'
import { faultsUnder } from '../plans/field-fault.ts'
import type { Plan } from '../plans/plan.ts'
import { chargeFaults, type ChargeableMeters } from '../catalog/charge-faults.ts'
import { lockChargedMeters } from '../catalog/plan-context.ts'
import { priceFaults } from '../catalog/price-faults.ts'
import { planObject } from '../catalog/plan-event.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import { queuePublication, recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { productObject } from '../catalog/product-event.ts'
import { insertProduct, lockProduct, type Product } from '../catalog/products-repository.ts'
import { addServer } from './bootstrap-mcp.ts'
import { findMcpServer, listTools, saveTools } from '../catalog/mcp-servers-repository.ts'

export type CloneOutcome =
  | { readonly kind: 'cloned'; readonly product: Product }
  | { readonly kind: 'not-found' }
  /**
   * A plan that is not archived has prices that are not allowed for a new plan. The path of the issue contains the
   * reference of the plan.
   */
  | { readonly kind: 'refused'; readonly issues: readonly ValidationIssue[] }

/** Copies a product and its plans under new references. Purchases and usage are not copied. */
export async function cloneProduct(
  work: UnitOfWork,
  reference: string,
  name: string | undefined,
): Promise<CloneOutcome> {
  const { sql, providerId, now } = work
  // The lock makes sure that all plans are read in the same state.
  const original = await lockProduct(sql, providerId, reference)
  if (original === undefined) return { kind: 'not-found' }
  const plans = await listPlans(sql, providerId, [reference])
  const meters = await lockChargedMeters(
    sql,
    providerId,
    plans.map(({ terms }) => terms),
  )
  const issues = plans.flatMap((plan) => clonedFaults(plan, meters))
  if (issues.length > 0) return { kind: 'refused', issues }
  const copy: Product = {
    ...original,
    reference: generateReference('product'),
    name: name ?? `${original.name} (copy)`,
    createdAt: now,
    updatedAt: now,
  }
  await insertProduct(sql, providerId, copy)
  await recordEvent(work, 'product.created', productObject(copy))
  const planTwins = new Map<string, string>()
  for (const [index, plan] of plans.entries()) {
    // Plans are listed by their creation time. The added milliseconds keep the order of the original plans.
    const madeAt = new Date(now.getTime() + index)
    const twin = {
      ...plan,
      reference: generateReference('plan'),
      productRef: copy.reference,
      createdAt: madeAt,
      updatedAt: madeAt,
    }
    await insertPlan(sql, providerId, twin)
    await recordEvent(work, 'plan.created', planObject(twin))
    planTwins.set(plan.reference, twin.reference)
  }
  await cloneMcp(work, reference, copy, planTwins)
  await queuePublication(work, 'offer', copy.reference)
  return { kind: 'cloned', product: copy }
}

function clonedFaults(plan: Plan, meters: ChargeableMeters): ValidationIssue[] {
  if (plan.status === 'archived') return []
  const faults = [...priceFaults(plan), ...chargeFaults(plan, meters)]
  return faultsUnder(['plans', plan.reference], faults)
}

/**
 * Creates the MCP server for the copy of an MCP product. It has another subdomain and the same origin, credentials and
 * tools. `planTwins` maps the original's plans to the copy's plans.
 */
async function cloneMcp(
  work: UnitOfWork,
  originalRef: string,
  copy: Product,
  planTwins: ReadonlyMap<string, string>,
): Promise<void> {
  const { sql, providerId, now } = work
  const original = await findMcpServer(sql, providerId, originalRef)
  if (original === undefined) return
  const { originUrl, auth, isAutoMapped } = original
  const fields = { productRef: copy.reference, originUrl, auth, isAutoMapped }
  await addServer(work, copy.name, fields)
  const tools = (await listTools(sql, providerId, originalRef)).map((tool) => ({
    ...tool,
    planRefs: tool.planRefs.flatMap((ref) => planTwins.get(ref) ?? []),
  }))
  await saveTools(sql, providerId, copy.reference, tools, now)
}
