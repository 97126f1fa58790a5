import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type BodyFiles = {
  /** File of bodies with 1 usage record of about 250 bytes each. */
  readonly single: string
  /** File of bodies with 100 such records each. */
  readonly bulk: string
  /** The same of customers that do not exist. */
  readonly unknown: string
  readonly unknownBulk: string
  readonly limits: string
}

const singleCount = 1_000
const bulkCount = 20
export const bulkSize = 100

export async function writeBodyFiles(
  folder: string,
  productRef: string,
  customerRefs: readonly string[],
): Promise<BodyFiles> {
  const unknownRefs = customerRefs.map((customerRef) => `not_${customerRef}`)
  const usage = (number: number, references: readonly string[]): unknown => ({
    customerRef: references[number % references.length],
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
  })
  const write = async (name: string, bodies: readonly unknown[]): Promise<string> => {
    const path = join(folder, `${name}.jsonl`)
    await writeFile(path, bodies.map((body) => JSON.stringify(body)).join('\n') + '\n')
    return path
  }
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
  const singles = (references: readonly string[]): unknown[] =>
    numbers(singleCount).map((number) => usage(number, references))
  const bulks = (references: readonly string[]): unknown[] =>
    numbers(bulkCount).map((body) => ({
      events: numbers(bulkSize).map((at) => usage(body * bulkSize + at, references)),
    }))
  return {
    single: await write('single', singles(customerRefs)),
    bulk: await write('bulk', bulks(customerRefs)),
    unknown: await write('unknown', singles(unknownRefs)),
    unknownBulk: await write('unknown-bulk', bulks(unknownRefs)),
    limits: await write(
      'limits',
      customerRefs.map((customerRef) => ({ customerRef, productRef })),
    ),
  }
}
