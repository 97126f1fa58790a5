import { expect, it } from 'vitest'
import { NextRequest } from './next-request.ts'

/** Answers on demand, with the number of the request. */
function createLine() {
  const requests: { questions: readonly string[]; answer: () => void; fail: () => void }[] = []
  const line = new NextRequest<string, number>(
    (question) => question,
    (questions) =>
      new Promise((resolve, reject) => {
        const number = requests.length + 1
        const answers = new Map(questions.map((question) => [question, number]))
        const answer = () => resolve(answers)
        requests.push({ questions, answer, fail: () => reject(new Error(`${number} failed`)) })
      }),
  )
  return { line, requests }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('sends the first question at once, and later ones with the next request', async () => {
  const { line, requests } = createLine()
  const first = line.ask('a')
  await turn()
  const later = ['a', 'b', 'a'].map((question) => line.ask(question))
  await turn()
  expect(requests.map(({ questions }) => questions)).toEqual([['a']])
  requests[0]!.answer()
  expect(await first).toBe(1)
  await turn()
  expect(requests.map(({ questions }) => questions)).toEqual([['a'], ['a', 'b']])
  requests[1]!.answer()
  expect(await Promise.all(later)).toEqual([2, 2, 2])
})

it('continues after a failed request', async () => {
  const { line, requests } = createLine()
  const failing = expect(line.ask('a')).rejects.toThrow('1 failed')
  await turn()
  const next = line.ask('a')
  requests[0]!.fail()
  await failing
  await turn()
  requests[1]!.answer()
  expect(await next).toBe(2)
})

it('rejects a question that the answer omits', async () => {
  const line = new NextRequest<string, number>(
    (question) => question,
    async () => new Map([['a', 1]]),
  )
  const [a, b] = await Promise.allSettled([line.ask('a'), line.ask('b')])
  expect([a.status, b.status]).toEqual(['fulfilled', 'rejected'])
})
