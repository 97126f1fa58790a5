import { testClockUsageAheadMs } from '@tollgate/schemas/limits'

/** Sums of usage by bucket number. Usage at a second belongs to bucket floor((second - offsetSeconds) / seconds). */
export type BucketSpec = {
  /** Unique within the entry. It names the buckets for readers; the other fields determine what is counted. */
  readonly id: string
  /** Length of a bucket. */
  readonly seconds: number
  readonly offsetSeconds: number
  /** Number of buckets that stay readable, including the current one of the hot state's clock. */
  readonly kept: number
}

/** The fields of a spec that determine its sums. Specs of an entry that differ in their id only share their buckets. */
export type BucketForm = Omit<BucketSpec, 'id'>

/** Amounts by spec id, then by bucket number, in millionths of a unit. */
export type BucketAmounts = ReadonlyMap<string, ReadonlyMap<number, bigint>>

/** Maximum number of specs of an entry. */
export const bucketSpecsMax = 32

/** Maximum of `kept` of a spec. */
export const bucketsKeptMax = 1_000

/**
 * Number of buckets after the current one that are kept. Usage with a later timestamp is added to the last of them, so that
 * timestamps of the future can neither push the present out nor use memory without limit.
 */
export const futureBucketsMax = 400

/** Seconds after which usage is of a customer on a test clock. Its buckets are kept by its own time. */
export const testClockAheadSeconds = testClockUsageAheadMs / 1_000

/** Seconds that the clock of a caller may differ from that of the hot state: older buckets are kept for so long. */
export const bucketClockSkewSeconds = 10

export function bucketAt(
  { seconds, offsetSeconds }: Pick<BucketSpec, 'seconds' | 'offsetSeconds'>,
  second: number,
): number {
  return Math.floor((second - offsetSeconds) / seconds)
}

/** Returns the oldest bucket that is kept at that time. */
export function oldestKeptBucket(form: BucketForm, nowSecond: number): number {
  return bucketAt(form, nowSecond) - form.kept + 1
}

/** Returns the bucket that usage at `second` is added to at that time, or undefined if its bucket is not kept any more. */
export function bucketToAddTo(
  form: BucketForm,
  second: number,
  nowSecond: number,
): number | undefined {
  const bucket = bucketAt(form, second)
  const current = bucketAt(form, nowSecond)
  if (bucket <= current - form.kept) return undefined
  return Math.min(bucket, current + futureBucketsMax)
}

/** Returns the name of a form in stored data. It is at most 40 characters. */
export function bucketFormName({ seconds, offsetSeconds, kept }: BucketForm): string {
  return `${seconds}/${offsetSeconds}/${kept}`
}

/** Returns the sum of the amounts from a bucket on, including those of buckets that have not begun. */
export function sumSince(
  amounts: ReadonlyMap<number, bigint> | undefined,
  fromBucket: number,
): bigint {
  let sum = 0n
  for (const [bucket, amount] of amounts ?? []) if (bucket >= fromBucket) sum += amount
  return sum
}

/** Throws a RangeError if an entry cannot have these specs. */
export function checkBucketSpecs(specs: readonly BucketSpec[]): void {
  if (specs.length > bucketSpecsMax) {
    throw new RangeError(`An entry has at most ${bucketSpecsMax} bucket specs: ${specs.length}`)
  }
  if (new Set(specs.map(({ id }) => id)).size < specs.length) {
    throw new RangeError('Two bucket specs of an entry have the same id')
  }
  for (const spec of specs) checkBucketForm(spec)
}

export function checkBucketForm({ seconds, offsetSeconds, kept }: BucketForm): void {
  if (!isIntegerWithin(seconds, 1, secondsMax)) throw new RangeError(`No bucket length: ${seconds}`)
  if (!isIntegerWithin(offsetSeconds, -secondsMax, secondsMax)) {
    throw new RangeError(`No bucket offset: ${offsetSeconds}`)
  }
  if (!isIntegerWithin(kept, 1, bucketsKeptMax)) {
    throw new RangeError(`No number of buckets to keep: ${kept}`)
  }
}

/** A year, which is more than any limit needs. */
const secondsMax = 366 * 86_400

function isIntegerWithin(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max
}
