import type { LmdbStore } from '../../lmdb/lmdb-store.ts'
import {
  bucketToAddTo,
  oldestKeptBucket,
  testClockAheadSeconds,
  type BucketForm,
} from '../buckets.ts'
import { amountBytes, readAmount, writeAmount } from './amount-format.ts'
import { hotKey, keySpaces, readTimePart, textPart, timePart, timePartBytes } from './hot-keys.ts'

/*
 * One value holds the buckets of one form of a series: per bucket with usage its number and its amount, sorted by number. Nearly
 * all usage is added to the last bucket.
 */
const itemBytes = timePartBytes + amountBytes
const noBuckets = Buffer.alloc(0)

export function bucketKey(
  counts: Buffer,
  subject: Buffer,
  scope: Buffer,
  series: Buffer,
  formName: string,
): Buffer {
  return hotKey(keySpaces.bucket, counts, subject, scope, series, textPart(formName))
}

/** The buckets of one form of a series, for changing them inside a write transaction. */
export class BucketList {
  readonly #key: Buffer
  readonly #form: BucketForm
  readonly #realSecond: number
  /** The time by which buckets are kept: real time, or the latest second of usage on a test clock. */
  #nowSecond: number
  /** Amounts to add, by bucket. They are added at the end, because changing the stored bytes costs more than a sum. */
  readonly #sums = new Map<number, bigint>()
  #bytes: Buffer = noBuckets

  constructor(key: Buffer, form: BucketForm, nowSecond: number) {
    this.#key = key
    this.#form = form
    this.#realSecond = nowSecond
    this.#nowSecond = nowSecond
  }

  add(second: number, amount: bigint): void {
    if (second > this.#realSecond + testClockAheadSeconds && second > this.#nowSecond) {
      this.#nowSecond = second
    }
    const bucket = bucketToAddTo(this.#form, second, this.#nowSecond)
    if (bucket !== undefined) this.#sums.set(bucket, (this.#sums.get(bucket) ?? 0n) + amount)
  }

  /** Adds the amounts to the stored buckets, and stores those that are kept. */
  write(store: LmdbStore): void {
    const stored = store.getBinary(this.#key)
    this.#bytes = stored ?? noBuckets
    for (const [bucket, amount] of this.#sums) this.#addTo(bucket, amount)
    const oldest = oldestKeptBucket(this.#form, this.#nowSecond)
    let from = 0
    while (from < this.#bytes.length && readTimePart(this.#bytes, from) < oldest) from += itemBytes
    const kept = this.#bytes.subarray(from)
    if (kept.length > 0) store.putSync(this.#key, kept)
    else if (stored !== undefined) store.removeSync(this.#key)
  }

  #addTo(bucket: number, amount: bigint): void {
    let at = this.#bytes.length
    while (at > 0 && this.#bucketBefore(at) > bucket) at -= itemBytes
    if (at > 0 && this.#bucketBefore(at) === bucket) {
      const amountAt = at - amountBytes
      writeAmount(this.#bytes, amountAt, readAmount(this.#bytes, amountAt) + amount)
    } else {
      this.#insert(at, bucket, amount)
    }
  }

  #bucketBefore(at: number): number {
    return readTimePart(this.#bytes, at - itemBytes)
  }

  #insert(at: number, bucket: number, amount: bigint): void {
    const longer = Buffer.allocUnsafe(this.#bytes.length + itemBytes)
    longer.set(this.#bytes.subarray(0, at))
    longer.set(timePart(bucket), at)
    writeAmount(longer, at + timePartBytes, amount)
    longer.set(this.#bytes.subarray(at), at + itemBytes)
    this.#bytes = longer
  }
}

export function decodeBuckets(bytes: Buffer): Map<number, bigint> {
  const buckets = new Map<number, bigint>()
  for (let at = 0; at < bytes.length; at += itemBytes) {
    buckets.set(readTimePart(bytes, at), readAmount(bytes, at + timePartBytes))
  }
  return buckets
}

/** Returns the number of the last bucket of a stored list, which has at least one. */
export function lastBucket(bytes: Buffer): number {
  return readTimePart(bytes, bytes.length - itemBytes)
}
