import type { BucketAmounts } from '../buckets.ts'
import { joinAmount } from './amount-format.ts'

/**
 * Returns the buckets of a counter from a Redis hash reply, in which names and values alternate. The listed specs follow, as `l<id>`
 * and the name of the form (scripts/read-entries.ts).
 */
export function readBuckets(fields: readonly string[]): BucketAmounts {
  const forms = new Map<string, Map<number, bigint>>()
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at]!
    const isHigh = field.startsWith('^')
    const start = isHigh ? 1 : 0
    if (field[start] !== 'b') continue
    const numberAt = field.lastIndexOf('/') + 1
    const form = field.slice(start + 1, numberAt - 1)
    const buckets = forms.get(form) ?? new Map<number, bigint>()
    forms.set(form, buckets)
    const number = Number(field.slice(numberAt))
    const value = fields[at + 1]!
    const amount = isHigh ? joinAmount('0', value) : BigInt(value)
    buckets.set(number, (buckets.get(number) ?? 0n) + amount)
  }
  const amounts = new Map<string, ReadonlyMap<number, bigint>>()
  for (let at = fields.length - 2; fields[at]?.startsWith('l') === true; at -= 2) {
    const buckets = forms.get(fields[at + 1]!)
    if (buckets !== undefined) amounts.set(fields[at]!.slice(1), buckets)
  }
  return amounts
}
