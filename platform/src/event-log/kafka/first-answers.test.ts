import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { firstAnswers } from './first-answers.ts'

const hour = 3_600_000

/** Returns attempts with these outcomes, and records which of them were made. */
function attemptsOf(...fates: ('answers' | 'fails' | 'hangs')[]) {
  const made: number[] = []
  const attempts = fates.map((fate, index) => async () => {
    made.push(index)
    if (fate === 'hangs') return await sleep(hour, index, { ref: false })
    if (fate === 'fails') throw new Error(`${index} failed`)
    return index
  })
  return { attempts, made }
}

describe('first answers', () => {
  it('makes no more attempts than needed', async () => {
    const { attempts, made } = attemptsOf('answers', 'answers', 'answers')
    expect(await firstAnswers(attempts, 2, hour)).toEqual([0, 1])
    expect(made).toEqual([0, 1])
  })

  it('makes the next attempt when one fails', async () => {
    const { attempts, made } = attemptsOf('fails', 'answers', 'answers')
    expect(await firstAnswers(attempts, 1, hour)).toEqual([1])
    expect(made).toEqual([0, 1])
  })

  it('makes the next attempt when one hangs', async () => {
    const { attempts } = attemptsOf('hangs', 'hangs', 'answers')
    expect(await firstAnswers(attempts, 1, 1)).toEqual([2])
  })

  it('rejects when too few attempts are left', async () => {
    const { attempts } = attemptsOf('hangs', 'fails', 'fails')
    await expect(firstAnswers(attempts, 2, hour)).rejects.toThrow('2 failed')
    await expect(firstAnswers([], 1, hour)).rejects.toThrow('nobody')
  })

  it('resolves at once if no answer is needed', async () => {
    expect(await firstAnswers(attemptsOf('fails').attempts, 0, hour)).toEqual([])
  })
})
