import type { Environment } from '@tollgate/schemas/environment'
import type { MeterEvent } from '@tollgate/schemas/meter-event'
import { MeterEventDecoder } from '@tollgate/schemas/meter-event-codec'
import { usageTopic } from '@tollgate/schemas/topics'
import type { Source } from './source.ts'

/** A record of the log that is not in ClickHouse yet. */
export type TailRecord = {
  readonly partition: number
  readonly offset: number
  readonly receivedAtMs: number
  readonly value: Uint8Array
  /** Undefined if the record cannot be decoded. */
  readonly event: MeterEvent | undefined
}

const readLimits = { recordsMax: 5_000, bytesMax: 4_194_304 }

/**
 * Returns the records of an environment that are not in ClickHouse yet. Their order is the same in each run, and the records of a
 * customer keep their order.
 */
export async function* readTail(
  { log, partitions }: Pick<Source, 'log' | 'partitions'>,
  environment: Environment,
): AsyncGenerator<TailRecord> {
  // The schema ids of the two logs differ, and the decoder of the process is the target's. So the source gets its own decoder.
  const decoder = new MeterEventDecoder()
  for (const { partition, storedTo, head, ...at } of partitions) {
    if (at.environment !== environment) continue
    for (let next = storedTo; next < head;) {
      const records = await log.read(usageTopic(environment), partition, next, readLimits)
      for (const { offset, receivedAtMs, value } of records) {
        next = offset + 1
        const copy = new Uint8Array(value)
        yield { partition, offset, receivedAtMs, value: copy, event: tryDecode(decoder, copy) }
      }
      if (records.length === 0) throw new Error(`the log ends at ${next}, before ${head}`)
    }
  }
}

function tryDecode(decoder: MeterEventDecoder, value: Uint8Array): MeterEvent | undefined {
  try {
    return decoder.decode(value)
  } catch {
    return undefined
  }
}

export function countTail({ partitions }: Pick<Source, 'partitions'>, environment: Environment) {
  return partitions
    .filter((each) => each.environment === environment)
    .reduce((sum, { storedTo, head }) => sum + head - storedTo, 0)
}
