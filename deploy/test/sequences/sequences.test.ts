import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countHappenings, type Happening } from '../money/happenings.ts'
import { Lanes } from '../money/lanes.ts'
import { configuredSeed, RunProgress } from '../run-progress.ts'
import { playBatch, type Fault } from './play-batch.ts'
import { anySequence, pauses } from './step.ts'

/*
 * In random order, customers of one market activate plans, change, cancel, are refunded, dispute, owe, and use what the limit check
 * admits. In every sequence, everything admitted is paid or promised, and nothing is charged twice.
 */

const configured = process.env['TOLLGATE_TEST_SEQUENCES']
const sequencesMax = Number(configured ?? 50)

/** Number of sequences that share one clock. */
const batchSize = 100

const rounds = 3

const progress = RunProgress.open('sequences', configured)

/** The sequences are the same in each run, unless a number of sequences is set. */
const firstSeed = progress?.firstSeed ?? configuredSeed ?? 14

/**
 * Number of sequences per test, so that no test takes so long that the run counts as hanging. Each test has its own databases, because
 * the checks get slower with every sequence in them.
 */
const sequencesEach = 1_000

/** Batches that are played at the same time. A batch often waits for PostgreSQL. */
const lanesMax = sequencesMax > batchSize ? 2 : 1

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

/** Number of times that each of these has happened. */
const counts = new Map<Happening, number>(expected.map((name) => [name, 0]))

/** Number of sequences that this process has played. */
let sequencesPlayed = 0

/** Number of sequences in which each must happen at least once. */
const enough = 5_000

const starts = Array.from(
  { length: Math.ceil(sequencesMax / sequencesEach) },
  (_, test) => test * sequencesEach,
)

test.each(starts)(
  'never yields more than one price pays for, and never charges twice (from %i)',
  { timeout: 6 * 3_600_000 },
  async (start) => {
    const batches = batchesFrom(start).filter(
      ({ seed, numRuns }) => progress?.hasPassed(seed, numRuns) !== true,
    )
    if (batches.length === 0) return
    const lanes = await Lanes.open(Math.min(lanesMax, batches.length))
    try {
      const played = batches.map(({ seed, numRuns }) =>
        lanes.run(async (stores) => {
          const faults = await playBatch(stores, ...drawn(seed, numRuns), async (books) => {
            const happened = await countHappenings(books)
            sequencesPlayed += numRuns
            for (const name of expected) counts.set(name, counts.get(name)! + happened[name])
          })
          progress?.end(seed, numRuns, faults.length === 0)
          // The run goes on with other batches, so the faults are printed now.
          if (faults.length > 0) console.error(`seed ${seed}`, faults)
          return faults.map((fault): Fault & { seed: number } => ({ seed, ...fault }))
        }),
      )
      const faults = (await Promise.all(played)).flat()
      expect(faults, `sequences of seed ${faults[0]?.seed}`).toEqual([])
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

type Batch = { readonly seed: number; readonly numRuns: number }

function batchesFrom(start: number): Batch[] {
  const end = Math.min(start + sequencesEach, sequencesMax)
  const count = Math.ceil((end - start) / batchSize)
  return Array.from({ length: count }, (_, at) => {
    const from = start + at * batchSize
    return { seed: firstSeed + from, numRuns: Math.min(batchSize, end - from) }
  })
}

/** Returns the sequences of a seed, and the hours between their rounds. */
function drawn(seed: number, numRuns: number) {
  const sequences = fc.sample(anySequence(rounds), { seed, numRuns })
  const anyPauses = fc.array(fc.constantFrom(...pauses), { minLength: rounds, maxLength: rounds })
  const [hours] = fc.sample(anyPauses, { seed, numRuns: 1 })
  return [sequences, hours!] as const
}
