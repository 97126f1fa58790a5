import { isAdditive } from '@tollgate/schemas/meter-reading'
import { listCustomersByReference } from '@tollgate/domain/customers/list-customers'
import { listProductNames } from '@tollgate/domain/catalog/products-repository'
import { listMeters } from '@tollgate/domain/meters/repository'
import type { UsageBreakdownBody, UsageGrouping } from '@tollgate/schemas/http/console-usage'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import { read, type ReadParts } from '../access/read.ts'
import { listUsageGroups, type RolledUpQuery, type UsageGroup } from './query-rolled-up-usage.ts'
import { rangeToHttp } from './usage-over-time.ts'

/**
 * Maximum number of references that one response combines. A customer may have used several references, which are shown as one
 * customer.
 */
const referencesMax = 2_000

/** Returns the customers or other groups with the most usage. */
export async function usageBreakdown(
  parts: ReadParts & { readonly usageStore: UsageStore },
  query: RolledUpQuery,
  by: UsageGrouping,
  limit: number,
): Promise<UsageBreakdownBody> {
  const rowsMax = by === 'product' ? limit : referencesMax
  const listed = await listUsageGroups(parts.usageStore, query, by, rowsMax)
  const found = by === 'meter' ? await additiveOf(parts, query, listed) : listed
  const known = await namesOf(
    parts,
    query,
    by,
    found.map(({ key }) => key),
  )
  const groups = foldGroups(found, known).slice(0, limit)
  return { by, ...rangeToHttp(query.range), groups }
}

/** Leaves out meters whose usage cannot be added up. */
async function additiveOf(
  parts: ReadParts,
  caller: RolledUpQuery,
  groups: readonly UsageGroup[],
): Promise<readonly UsageGroup[]> {
  const meters = await read(parts, caller, (sql) => listMeters(sql, caller.providerId))
  const others = meters.filter(({ aggregation }) => !isAdditive(aggregation))
  const names = new Set(others.map(({ name }) => name))
  return groups.filter(({ key }) => !names.has(key))
}

type Known = ReadonlyMap<string, { readonly reference: string; readonly name?: string }>

/** Returns the object that each key belongs to, with its display name. */
function namesOf(
  parts: ReadParts,
  caller: RolledUpQuery,
  by: UsageGrouping,
  keys: readonly string[],
): Promise<Known> {
  const { providerId } = caller
  return read(parts, caller, async (sql): Promise<Known> => {
    switch (by) {
      case 'customer': {
        const customers = await listCustomersByReference(sql, providerId, keys)
        return new Map(
          [...customers].map(([key, { reference, email }]) => [key, { reference, name: email }]),
        )
      }
      case 'product': {
        const names = await listProductNames(sql, providerId, keys)
        return new Map([...names].map(([reference, name]) => [reference, { reference, name }]))
      }
      case 'meter':
        return new Map(keys.map((reference) => [reference, { reference, name: reference }]))
    }
  })
}

/** A sum as the store returns it: decimal text. */
type Group = { readonly key: string; readonly total: string; readonly count: number }

type FoldedGroup = {
  readonly reference: string
  readonly name?: string
  readonly value: number
  readonly count: number
}

/** Merges groups whose keys belong to the same object, for display. The group with the largest total comes first. */
function foldGroups(groups: readonly Group[], known: Known): FoldedGroup[] {
  const folded = new Map<string, FoldedGroup>()
  for (const { key, total, count } of groups) {
    const { reference, name } = known.get(key) ?? { reference: key }
    const before = folded.get(reference)
    folded.set(reference, {
      reference,
      ...(name === undefined ? {} : { name }),
      value: (before?.value ?? 0) + Number(total),
      count: (before?.count ?? 0) + count,
    })
  }
  return [...folded.values()].sort((a, b) => b.value - a.value)
}
