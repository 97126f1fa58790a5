import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Books } from '../money/books.ts'
import { countHappenings, type Happening } from '../money/happenings.ts'
import { Lanes } from '../money/lanes.ts'
import { configuredSeed, RunProgress } from '../run-progress.ts'
import { playBatch, type Fault } from './play-batch.ts'
import { anySequence, pauses } from './step.ts'

const configured = process.env['TOLLGATE_TEST_SEQUENCES']
const sequencesMax = Number(configured ?? 50)

/** Number of sequences that share one clock. Each run of a job serves all of them, so larger batches cost less. */
const batchSize = 300

const rounds = 3

/** The sequences are the same in each run, unless a number of sequences is set. */
const ordinarySeed = 14

/**
 * Number of sequences per test, so that no test takes so long that the run counts as hanging. Each test has its own databases, because
 * the checks get slower with every sequence in them.
 */
const sequencesEach = 1_200

/** Batches that a process plays at the same time. A batch often waits for PostgreSQL. */
const lanesMax = 2

/** Processes that share a run of several batches: one for each file that calls `playShare`. */
const sharesMax = 2

/** Happenings that a long run must contain, so that no act of the provider is without an effect. */
const expected = [
  'invoice that was credited by decision',
  'invoice that was voided by decision',
  'invoice that was written off by decision',
  'invoice that was paid outside',
  'refund to the card by decision',
  'refund to the balance by decision',
  'refund that was taken from the balance',
  'payout of a balance',
  'item that was charged',
  'invoice of own lines',
  'discount of a coupon',
  'add-on of a period',
  'grant of scheduled credits',
  'correction of usage',
  'credit of billed usage',
  'line of late usage',
  'minimum that was charged',
  'purchase that was moved',
  'purchase that the provider changed',
  'sale that the balance paid for',
] as const satisfies readonly Happening[]

/** Number of sequences in which each must happen at least once. */
const enough = 5_000

type Batch = { readonly seed: number; readonly numRuns: number }

/**
 * Defines the tests of one share of the sequences. In random order, customers of one market activate plans, change, cancel, are
 * refunded, dispute, owe, and use what the limit check admits. In every sequence, everything admitted is paid or promised, and nothing is
 * charged twice. Shares are played by different processes, and a run of one batch has only the first.
 */
export function playShare(share: number, title: string): void {
  const progress = RunProgress.open('sequences', configured)
  const seed = progress?.firstSeed ?? configuredSeed ?? ordinarySeed
  const batches = batchesOfShare(seed, share)
  const eachMax = sequencesEach / batchSize
  const starts = Array.from({ length: Math.ceil(batches.length / eachMax) }, (_, at) => at)
  const counts = new Map<Happening, number>(expected.map((name) => [name, 0]))
  let sequencesPlayed = 0

  async function count(books: Books, numRuns: number): Promise<void> {
    const happened = await countHappenings(books)
    sequencesPlayed += numRuns
    for (const name of expected) counts.set(name, counts.get(name)! + happened[name])
  }

  async function play({ seed, numRuns }: Batch, lanes: Lanes): Promise<Fault[]> {
    const faults = await lanes.run((stores) =>
      playBatch(stores, ...drawn(seed, numRuns), { onEnd: (books) => count(books, numRuns) }),
    )
    progress?.end(seed, numRuns, faults.length === 0)
    // The run goes on with other batches, so the faults are printed now.
    if (faults.length > 0) console.error(`seed ${seed}`, faults)
    return faults.map((fault): Fault & { seed: number } => ({ seed, ...fault }))
  }

  test.each(starts)(
    `${title} (part %i of share ${share})`,
    { timeout: 6 * 3_600_000 },
    async (start) => {
      const own = batches.slice(start * eachMax, (start + 1) * eachMax)
      const left = own.filter(({ seed, numRuns }) => progress?.hasPassed(seed, numRuns) !== true)
      if (left.length === 0) return
      const lanes = await Lanes.open(Math.min(lanesMax, left.length))
      try {
        const faults = (await Promise.all(left.map((batch) => play(batch, lanes)))).flat()
        expect(faults, `sequences from seed ${left[0]!.seed}`).toEqual([])
      } finally {
        await lanes.stop()
      }
    },
  )

  test('played every act of the provider with an effect, in many sequences', () => {
    if (configured !== undefined) console.log(Object.fromEntries(counts))
    const missing = expected.filter((name) => counts.get(name) === 0)
    if (sequencesPlayed >= enough) expect(missing).toEqual([])
  })
}

function batchesOfShare(firstSeed: number, share: number): Batch[] {
  const count = Math.ceil(sequencesMax / batchSize)
  const all = Array.from({ length: count }, (_, at) => {
    const from = at * batchSize
    return { seed: firstSeed + from, numRuns: Math.min(batchSize, sequencesMax - from) }
  })
  return all.filter((_, at) => at % sharesMax === share)
}

/** Returns the sequences of a seed, and the hours between their rounds. */
function drawn(seed: number, numRuns: number) {
  const sequences = fc.sample(anySequence(rounds), { seed, numRuns })
  const anyPauses = fc.array(fc.constantFrom(...pauses), { minLength: rounds, maxLength: rounds })
  const [hours] = fc.sample(anyPauses, { seed, numRuns: 1 })
  return [sequences, hours!] as const
}
