import { writeFile } from 'node:fs/promises'
import type { MeasuredProduct } from '../client/measured-product.ts'

/** The bodies of a load: 1 usage record of about 250 bytes, 100 such records, or a limit check. */
export type BodyShape = {
  readonly kind: 'single' | 'bulk' | 'limits'
  /** Whether the bodies name customers that do not exist. */
  readonly isUnknown: boolean
  /** Whether each record has an idempotency key that no other record has. */
  readonly isKeyed: boolean
}

/** Replaced by a text of the same length that is new for each request. wrk replaces it, because it sends the same bodies in turn. */
export const newKey = 'NEW_KEY_PER_SEND'
export const bulkSize = 100
const singleCount = 1_000
const bulkCount = 20

/** Writes one JSON body per line. */
export async function writeBodies(
  file: string,
  shape: BodyShape,
  product: MeasuredProduct,
): Promise<void> {
  const lines = bodiesOf(shape, product).map((body) => JSON.stringify(body))
  await writeFile(file, `${lines.join('\n')}\n`)
}

export function bodiesOf(
  { kind, isUnknown, isKeyed }: BodyShape,
  { productRef, customerRefs: known }: Pick<MeasuredProduct, 'productRef' | 'customerRefs'>,
): unknown[] {
  const customerRefs = isUnknown ? known.map((customerRef) => `not_${customerRef}`) : known
  const usage = (number: number, idempotencyKey: string): unknown => ({
    customerRef: customerRefs[number % customerRefs.length],
    productRef,
    actionType: 'api_call',
    units: 1,
    outcome: 'success',
    duration: 12 + (number % 400),
    metadata: {
      action: 'requests',
      toolName: `tool_${number % 7}`,
      requestId: `request-${number}`,
    },
    ...(isKeyed && { idempotencyKey }),
  })
  switch (kind) {
    case 'single':
      return numbers(singleCount).map((number) => usage(number, newKey))
    case 'bulk':
      return numbers(bulkCount).map((body) => ({
        events: numbers(bulkSize).map((at) => usage(body * bulkSize + at, `${newKey}-${at}`)),
      }))
    case 'limits':
      return customerRefs.map((customerRef) => ({ customerRef, productRef }))
  }
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}
