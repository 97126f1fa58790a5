import { expect, test } from 'vitest'
import { createRechecker } from './counting-parts.ts'

test('drops differences that disappear, and checks the others five times', async () => {
  const recheck = createRechecker(10, 0)
  const checks: (readonly string[])[] = []
  const remaining = await recheck(['late', 'wrong'], async (suspects) => {
    checks.push(suspects)
    return suspects.filter((each) => each !== 'late')
  })
  expect(remaining).toEqual(['wrong'])
  expect(checks).toEqual([['late', 'wrong'], ['wrong'], ['wrong'], ['wrong'], ['wrong']])
})

test('returns further differences unchecked once enough remain', async () => {
  const recheck = createRechecker(2, 0)
  let checks = 0
  const stay = async (suspects: readonly string[]): Promise<readonly string[]> => {
    checks += 1
    return suspects
  }
  expect(await recheck(['a'], stay)).toEqual(['a'])
  expect(await recheck(['b'], stay)).toEqual(['b'])
  expect(checks).toBe(10)
  expect(await recheck(['c', 'd'], stay)).toEqual(['c', 'd'])
  expect(checks).toBe(10)
})
