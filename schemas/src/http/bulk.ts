import { z } from 'zod'

/** Every bulk operation accepts both names of the list, because the sources of the contract disagree about the name. */
export type ListName = 'events' | 'records'

export function bulkFields<Items extends z.ZodType>(items: Items) {
  return {
    events: items.optional(),
    records: items.optional(),
    /** The records may be up to 13 months old. Needs a key that may change things, like a correction of usage. */
    backfill: z.boolean().optional(),
  }
}

/**
 * Refuses a body without a list and a body with two. `shown` is the name in the operation's description, which the error mentions.
 */
export function requireOneList(shown: ListName) {
  return (body: { events?: unknown; records?: unknown }, context: z.core.$RefinementCtx): void => {
    if (body.events === undefined && body.records === undefined) {
      context.addIssue({
        code: 'invalid_type',
        expected: 'array',
        path: [shown],
        message: 'Required',
        input: undefined,
      })
    }
    if (body.events !== undefined && body.records !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['records'],
        message: 'Give either events or records',
      })
    }
  }
}

export type BulkBody<Item> = {
  readonly events?: Item[] | undefined
  readonly records?: Item[] | undefined
  readonly backfill?: boolean | undefined
}

/** Returns the list of a valid body. */
export function bulkItems<Item>(body: BulkBody<Item>): Item[] {
  return body.events ?? body.records ?? []
}
