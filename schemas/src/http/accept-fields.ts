import { z } from 'zod'
import type { JsonObject } from '../json-object.ts'
import { faultOfJsonObject, isPlainObject, isStorableText } from '../json-object.ts'
import { referenceCharsMax, textCharsMax } from '../limits.ts'

/*
 * Acceptors are the fast path in front of zod. They accept ordinary valid bodies in a fifth of zod's time and return undefined for
 * all others, which zod then validates and explains. An acceptor never accepts a body that its schema refuses. A property test
 * compares the two.
 */

export type Fields = Readonly<Record<string, unknown>>

export function isRequiredReference(value: unknown): value is string {
  return isOptionalReference(value) && value.length > 0
}

export function isOptionalReference(value: unknown): value is string {
  return typeof value === 'string' && value.length <= referenceCharsMax && isStorableText(value)
}

export function isLongText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= textCharsMax && isStorableText(value)
}

const instantPattern = z.regexes.datetime({ offset: true })

export function isInstantText(value: unknown): value is string {
  return typeof value === 'string' && instantPattern.test(value)
}

export function isJsonObject(value: unknown): value is JsonObject {
  return faultOfJsonObject(value) === undefined
}

type AcceptedList<Item> = {
  readonly name: 'events' | 'records'
  readonly items: Item[]
  /** The fields beside the list. */
  readonly flags: { readonly backfill?: boolean }
}

/** Returns the list of a bulk body if the acceptor accepts all its items, otherwise undefined: the schema decides. */
export function acceptList<Item>(
  body: unknown,
  itemsMax: number,
  acceptItem: (item: unknown) => Item | undefined,
): AcceptedList<Item> | undefined {
  if (!isPlainObject(body)) return undefined
  const { events, records, backfill } = body
  if (backfill !== undefined && typeof backfill !== 'boolean') return undefined
  const name = events === undefined ? 'records' : 'events'
  const list = name === 'events' ? events : records
  if (events !== undefined && records !== undefined) return undefined
  if (!Array.isArray(list) || list.length === 0 || list.length > itemsMax) return undefined
  const items: Item[] = []
  for (const candidate of list as unknown[]) {
    const item = acceptItem(candidate)
    if (item === undefined) return undefined
    items.push(item)
  }
  return { name, items, flags: backfill === undefined ? {} : { backfill } }
}
