import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExecutingFront } from './executing-front.ts'
import { framingCases, plainCases, type FramingCase } from './framing-cases.ts'
import { createNodeFront, createUwsFront, lacksGlibcOfUws } from './front-under-test.ts'

const targets = ['/hot', '/any']
const cases = targets.flatMap((target) =>
  [...framingCases, ...plainCases].map((each) => ({ each, target, name: each.name })),
)

const fronts = [
  { name: 'uWebSockets.js', create: createUwsFront, isMissing: lacksGlibcOfUws },
  { name: 'node:http', create: createNodeFront, isMissing: false },
]

describe.each(fronts)('framing at $name', ({ create, isMissing }) => {
  let front: ExecutingFront
  beforeAll(async () => {
    front = await ExecutingFront.listen(await create())
  })
  afterAll(() => front.close())

  const wantedOf = ({ executed, executedByUws }: FramingCase): readonly string[] =>
    front.kind === 'uws' ? (executedByUws ?? executed) : executed

  it.skipIf(isMissing).each(cases)(
    'executes only unambiguous requests: $name ($target)',
    async ({ each, target }) => {
      const { statuses, executed } = await front.send([each.bytes.replaceAll('{first}', target)])
      expect(executed).toEqual(wantedOf(each))
      if (each.refusedWith !== undefined) expect(each.refusedWith).toContain(statuses[0])
    },
  )

  it.skipIf(isMissing).each(targets)(
    'executes no more requests if they arrive line by line (%s)',
    async (target) => {
      for (const each of framingCases) {
        const lines = each.bytes.replaceAll('{first}', target).split(/(?<=\n)/)
        const { executed } = await front.send(lines)
        const wanted = wantedOf(each)
        expect({ name: each.name, executed }).toEqual({
          name: each.name,
          executed: wanted.slice(0, executed.length),
        })
      }
    },
  )
})

/** Header lines that two programs may read differently, and a few unambiguous ones. */
const headerLines = [
  ...['Content-Length: 5', 'Content-Length: 0', 'Content-Length: 47', 'Content-Length:'],
  ...['content-length: 005', 'Content-Length: 5, 5', 'Content-Length: +5', 'Content-Length : 9'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: identity', 'transfer-encoding: CHUNKED'],
  ...['Transfer-Encoding:', 'Host: b', 'Connection: close', 'Connection: keep-alive', 'X: a\rb'],
  ...['Upgrade: h2c', 'Expect: 100-continue', 'Expect: x', ' folded: 1', 'X: y', 'X', 'X: a\nY: b'],
]
const bodies = ['', 'hello', '5\r\nhello\r\n0\r\n\r\n', '5;x\r\nhello\r\n0\r\n\r\n', '0\r\n\r\n']

const requestArbitrary = fc
  .record({
    method: fc.constantFrom('POST', 'POST', 'GET', 'PUT'),
    target: fc.constantFrom('/hot', '/hot', '/any'),
    lines: fc.array(fc.constantFrom(...headerLines), { maxLength: 3 }),
    body: fc.constantFrom(...bodies),
  })
  .map(({ method, target, lines, body }) =>
    [`${method} ${target} HTTP/1.1`, 'Host: a', ...lines, '', body].join('\r\n'),
  )

describe.skipIf(lacksGlibcOfUws)('the same bytes at both fronts', () => {
  let fronts: readonly ExecutingFront[]
  beforeAll(async () => {
    const creates = await Promise.all([createUwsFront(), createNodeFront()])
    fronts = await Promise.all(creates.map((create) => ExecutingFront.listen(create)))
  })
  afterAll(() => Promise.all(fronts.map((front) => front.close())))

  it('make uWebSockets.js execute nothing that node:http does not execute', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(requestArbitrary, { minLength: 1, maxLength: 3 }), async (sent) => {
        const [byUws, byNode] = await Promise.all(
          fronts.map((front) => front.send([sent.join('')])),
        )
        expect(byNode!.executed.slice(0, byUws!.executed.length)).toEqual(byUws!.executed)
      }),
      { numRuns: 1_000 },
    )
  })
})
