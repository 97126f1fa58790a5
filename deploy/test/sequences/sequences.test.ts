import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { openStores } from '../money/stores.ts'
import { playBatch } from './play-batch.ts'
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

/** The sequences are the same in each run, unless a number of sequences is set. */
const firstSeed =
  configured === undefined ? 14 : Number(process.env['TOLLGATE_TEST_SEED'] ?? Date.now())

/** Number of sequences per test, so that no test takes so long that the run counts as hanging. */
const sequencesEach = 1_000

const starts = Array.from(
  { length: Math.ceil(sequencesMax / sequencesEach) },
  (_, test) => test * sequencesEach,
)

const stores = await openStores()
afterAll(() => stores.stop())

test.each(starts)(
  'never yields more than one price pays for, and never charges twice (from %i)',
  { timeout: 3_600_000 },
  async (start) => {
    const end = Math.min(start + sequencesEach, sequencesMax)
    for (let played = start; played < end; played += batchSize) {
      const seed = firstSeed + played
      const numRuns = Math.min(batchSize, end - played)
      const sequences = fc.sample(anySequence(rounds), { seed, numRuns })
      const [hours] = fc.sample(
        fc.array(fc.constantFrom(...pauses), { minLength: rounds, maxLength: rounds }),
        { seed, numRuns: 1 },
      )
      const faults = await playBatch(stores, sequences, hours!)
      expect(faults, `seed ${seed}`).toEqual([])
    }
  },
)
