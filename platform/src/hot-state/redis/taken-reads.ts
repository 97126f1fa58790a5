import type { TakenQuery, TakenReading } from '../reservations.ts'
import { namePart } from './hot-names.ts'
import { placeName, takenOf } from './reservations.ts'
import { TurnReads } from './turn-reads.ts'

/** Runs the script with the arguments of several reads. */
type RunScript = (partition: string, args: readonly string[]) => Promise<unknown>

/** The answer for one read; null means 'behind'. */
type Answer = readonly [string | null, readonly string[], readonly string[]] | null

/** With this many reads that each check `expiredPerReadMax` reservations, a call takes Redis some milliseconds. */
const takenPerCallMax = 20

/** Batched reads of used and reserved units. */
export class TakenReads {
  readonly #reads: TurnReads<Answer>

  constructor(run: RunScript) {
    this.#reads = new TurnReads(
      async (partition, reads) => (await run(partition, reads.flat())) as readonly Answer[],
      takenPerCallMax,
    )
  }

  async read(partition: string, query: TakenQuery): Promise<TakenReading> {
    const place = placeName(query.at)
    const series = namePart(query.series)
    const answer = await this.#reads.read(
      partition,
      place,
      series,
      place + series,
      query.windowId,
      `${query.minOffset}`,
    )
    if (answer === null) return { kind: 'behind' }
    const [document, amounts, expiredUnits] = answer
    const { used, reserved } = takenOf(amounts)
    const expired = expiredUnits.reduce((sum, units) => sum + BigInt(units), 0n)
    const taken = { used, reserved: reserved - expired }
    return { kind: 'taken', document: document ?? undefined, taken }
  }
}
