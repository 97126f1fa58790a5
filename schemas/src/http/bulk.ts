import type { z } from 'zod'

/** Both names of the list are taken by every bulk operation: sources disagree on which one is right. */
export type ListName = 'events' | 'records'

export function bulkFields<Items extends z.ZodType>(items: Items) {
  return { events: items.optional(), records: items.optional() }
}

/** Refuses a body with no list, naming the one that the operation's description shows, and a body with two. */
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
}

/** The list of a body that passed its schema. */
export function bulkItems<Item>(body: BulkBody<Item>): Item[] {
  return body.events ?? body.records ?? []
}
