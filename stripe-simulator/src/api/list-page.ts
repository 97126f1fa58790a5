import type { UnitOfWork } from '../store/unit-of-work.ts'
import type { Kind, Records } from '../store/records.ts'
import { present } from '../objects/present.ts'

export type PageOptions = {
  readonly limit?: number | undefined
  readonly starting_after?: string | undefined
}

export type TimeRange =
  | number
  | {
      readonly gt?: number | undefined
      readonly gte?: number | undefined
      readonly lt?: number | undefined
      readonly lte?: number | undefined
    }

/** Returns a page in Stripe's format, newest objects first. */
export function listPage<Of extends Kind>(
  work: UnitOfWork,
  kind: Of,
  path: string,
  options: PageOptions & { readonly owner?: string | undefined },
  isWanted: (record: Records[Of]) => boolean = () => true,
): object {
  const { limit = 10, starting_after, owner } = options
  if (starting_after !== undefined) work.require(kind, starting_after, 'starting_after')
  const found: object[] = []
  let hasMore = false
  for (const record of work.list(kind, owner ?? '', starting_after)) {
    if (!isWanted(record)) continue
    hasMore = found.length === limit
    if (hasMore) break
    found.push(present(record))
  }
  return { object: 'list', data: found, has_more: hasMore, url: path }
}

export function isWithin(range: TimeRange | undefined, time: number): boolean {
  if (range === undefined) return true
  if (typeof range === 'number') return time === range
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = range
  return time > gt && time >= gte && time < lt && time <= lte
}
