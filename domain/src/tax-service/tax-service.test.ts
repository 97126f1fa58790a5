import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { breakDownTax } from '../invoices/tax-breakdown.ts'
import { answeringQuestions, OutsideQuestion } from '../unit-of-work/outside-question.ts'
import { FailurePauses } from './failure-pauses.ts'
import { faultOf, ruleOfAnswer } from './rule-of-answer.ts'

describe('the rule of an answer', () => {
  const micros = fc.integer({ min: 0, max: 300_000 })
  const rateOf = (value: number): string => `0.${String(value).padStart(6, '0')}`

  test('has the exact sum of the rates, and taxes by it', () => {
    fc.assert(
      fc.property(
        fc.array(micros, { maxLength: 3 }),
        fc.bigInt(1n, 99_999_999n),
        fc.boolean(),
        (values, price, isInclusive) => {
          const rates = values.map((value) => ({ rate: rateOf(value), label: 'Tax' }))
          const rule = ruleOfAnswer({ rates }, 'US')
          const sum = BigInt(values.reduce((one, other) => one + other, 0))
          expect(rule.treatment).toBe(sum > 0n ? 'standard' : 'none')
          const { taxMinor, subtotalMinor, totalMinor } = breakDownTax(price, rule, isInclusive)
          expect(subtotalMinor + taxMinor).toBe(totalMinor)
          // tax = price × rate / (1, or 1 + rate) in millionths, within half a unit.
          const divisor = isInclusive ? 1_000_000n + sum : 1_000_000n
          const off = 2n * (taxMinor * divisor - price * sum)
          expect(off > -divisor && off <= divisor).toBe(true)
        },
      ),
    )
  })

  test('has the place of the answer, and otherwise that of the buyer', () => {
    expect(ruleOfAnswer({ rates: [] }, 'US')).toMatchObject({ country: 'US', ratePerMille: '0' })
    const rates = [{ rate: '0.13', label: 'HST', jurisdiction: null }]
    expect(ruleOfAnswer({ rates, country: 'CA', region: 'ON' }, 'US')).toEqual({
      ...{ treatment: 'standard', ratePerMille: '130', country: 'CA', region: 'ON' },
      parts: [{ label: 'HST', jurisdiction: null, ratePerMille: '130' }],
    })
  })

  test.each([
    [['0.5', '0.5'], undefined, true],
    [['0.5', '0.500001'], undefined, false],
    [['0.1'], 'reverse_charge', false],
    [['0'], 'reverse_charge', true],
    [[], 'none', true],
    [['0.1'], 'none', false],
    [['0.1'], 'standard', true],
  ] as const)('%j with the treatment %s is accepted: %s', (texts, treatment, isAccepted) => {
    const rates = texts.map((rate) => ({ rate, label: 'Tax' }))
    const answer = { rates, ...(treatment !== undefined && { treatment }) }
    expect(faultOf(answer) === undefined).toBe(isAccepted)
  })
})

test('a server is paused after failures in a row, and after the pause by the next failure', () => {
  let nowMs = 0
  const pauses = new FailurePauses({ failuresMax: 2, pauseMs: 100 }, () => nowMs)
  const fail = (): boolean => {
    pauses.note('a', false)
    return pauses.isPaused('a')
  }
  expect([fail(), fail(), pauses.isPaused('b')]).toEqual([false, true, false])
  nowMs = 100
  expect(pauses.isPaused('a')).toBe(false)
  expect(fail()).toBe(true)
  nowMs = 200
  pauses.note('a', true)
  expect([fail(), fail()]).toEqual([false, true])
})

describe('answeringQuestions', () => {
  class Question extends OutsideQuestion {
    readonly key: string
    constructor(key: string) {
      super(key)
      this.key = key
    }
  }

  test('attempts again after each answer, and keeps those before', async () => {
    const attempts: string[] = []
    const result = await answeringQuestions(
      () => Promise.resolve(),
      (asked) => {
        attempts.push(asked.map(({ key }) => key).join())
        return asked.length < 2
          ? Promise.reject(new Question(String(asked.length)))
          : Promise.resolve('done')
      },
    )
    expect([result, attempts]).toEqual(['done', ['', '0', '0,1']])
  })

  test('ends when a question has no answer, cannot be asked, or never ends', async () => {
    const attempt = () => Promise.reject(new Question('again'))
    await expect(answeringQuestions(undefined, attempt)).rejects.toThrow('again')
    const failing = () => Promise.reject(new Error('no answer'))
    await expect(answeringQuestions(failing, attempt)).rejects.toThrow('no answer')
    await expect(answeringQuestions(() => Promise.resolve(), attempt)).rejects.toThrow('again')
  })
})
