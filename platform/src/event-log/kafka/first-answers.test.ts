import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { firstAnswers } from './first-answers.ts'

const hour = 3_600_000

/** Attempts by what becomes of each, and which of them were made. */
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
  it('asks no more than it needs', async () => {
    const { attempts, made } = attemptsOf('answers', 'answers', 'answers')
    expect(await firstAnswers(attempts, 2, hour)).toEqual([0, 1])
    expect(made).toEqual([0, 1])
  })

  it('asks the next one where one fails', async () => {
    const { attempts, made } = attemptsOf('fails', 'answers', 'answers')
    expect(await firstAnswers(attempts, 1, hour)).toEqual([1])
    expect(made).toEqual([0, 1])
  })

  it('asks the next one where one hangs', async () => {
    const { attempts } = attemptsOf('hangs', 'hangs', 'answers')
    expect(await firstAnswers(attempts, 1, 1)).toEqual([2])
  })

  it('gives up when too few are left', async () => {
    const { attempts } = attemptsOf('hangs', 'fails', 'fails')
    await expect(firstAnswers(attempts, 2, hour)).rejects.toThrow('2 failed')
    await expect(firstAnswers([], 1, hour)).rejects.toThrow('nobody')
  })

  it('needs nobody for nothing', async () => {
    expect(await firstAnswers(attemptsOf('fails').attempts, 0, hour)).toEqual([])
  })
})
