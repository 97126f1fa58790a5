import type { Queryable } from '@tollgate/platform/database/database'
import type { MeterReading } from '@tollgate/schemas/meter-reading'
import type { Charge } from '@tollgate/schemas/http/charges'
import { isDeepStrictEqual } from 'node:util'

/** Plans that a refusal names. */
const namedPlansMax = 10

/**
 * Returns the names of plans whose charges or limits a change of the meter would break: one that counts other events, or no longer
 * stores a dimension that a charge names. A plan counts while it can be bought or a purchase of it gives access.
 */
export async function plansBrokenBy(
  sql: Queryable,
  providerId: string,
  meterName: string,
  before: MeterReading,
  after: MeterReading,
): Promise<string[]> {
  const removed = before.dimensions.filter((name) => !after.dimensions.includes(name))
  const countsOthers = before.type !== after.type || !isDeepStrictEqual(before.where, after.where)
  if (removed.length === 0 && !countsOthers) return []
  const names = new Set<string>()
  for (const { name, charges } of await listPlansWith(sql, providerId, meterName)) {
    const isBroken =
      countsOthers || charges.some((charge) => namesDimension(charge, meterName, removed))
    if (isBroken && names.size < namedPlansMax) names.add(name)
  }
  return [...names]
}

function namesDimension(
  { meter, where = {}, rows = [] }: Charge,
  meterName: string,
  dimensions: readonly string[],
): boolean {
  if (meter !== meterName) return false
  const named = [where, ...rows.map(({ when }) => when)].flatMap((each) => Object.keys(each))
  return named.some((name) => dimensions.includes(name))
}

async function listPlansWith(
  sql: Queryable,
  providerId: string,
  meterName: string,
): Promise<{ name: string; charges: readonly Charge[] }[]> {
  const containing = JSON.stringify([{ meter: meterName }])
  return sql`
    select name, coalesce(terms->'charges', '[]'::jsonb) as charges from plans
    where provider_id = ${providerId}
      and (terms->'charges' @> ${containing}::text::jsonb or terms->'usageLimits' @> ${containing}::text::jsonb)
      and ((status <> 'archived' and removed_at is null) or exists (
        select from purchases
        where purchases.provider_id = plans.provider_id and plan_ref = plans.reference
          and purchases.status in ('active', 'trialing', 'past_due')))
    order by plans.created_at, reference`
}
