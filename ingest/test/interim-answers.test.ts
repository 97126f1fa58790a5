import { afterEach, beforeEach, expect, it } from 'vitest'
import { createNodeFront, FrontUnderTest } from './front-under-test.ts'

/* `Expect: 100-continue` after another request on the same connection, with node:http. uWebSockets.js closes such connections. */

let under: FrontUnderTest
let openGate: () => void
/** Resolves once the front has passed on a request for the path and has done all that it can for it. */
let handedOn: (path: string) => Promise<void>
beforeEach(async () => {
  under = new FrontUnderTest(await createNodeFront())
  const gate = new Promise<void>((resolve) => (openGate = resolve))
  const targets: string[] = []
  handedOn = async (path) => {
    await expect.poll(() => targets, { timeout: 10_000 }).toContain(path)
    await new Promise(setImmediate)
  }
  under.fallback = async ({ target, body }) => {
    targets.push(target)
    if (target === '/first') await gate
    return { status: 200, headers: [], body: Buffer.from(`${target} ${body.toString()}`) }
  }
  await under.listen()
})
afterEach(() => under.close())

const first = 'GET /first HTTP/1.1\r\nHost: a\r\n\r\n'
const expecting = (length: number): string =>
  `POST /second HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`

it('sends no interim response between the head and the body of a response', async () => {
  const connection = await under.connect()
  await connection.write(`${first}${expecting(0)}`)
  // The second request is answered first, and its response waits.
  await handedOn('/second')
  openGate()
  const text = await connection.until('/second ')
  expect(text).toMatch(/\r\n\r\n\/first HTTP\/1\.1 200 OK/)
  expect(text).toMatch(/Content-Length: 8\r\n\r\n\/second $/)
})

it('sends the interim response in turn, and reads the body after it', async () => {
  const connection = await under.connect()
  await connection.write(`${first}${expecting(4)}`)
  await handedOn('/first')
  openGate()
  const text = await connection.until('100 Continue\r\n\r\n')
  expect(text).toMatch(/^HTTP\/1\.1 200 OK[^]*\r\n\r\n\/first HTTP\/1\.1 100 Continue\r\n\r\n$/)
  await connection.write('sent')
  expect(await connection.answer()).toMatchObject({ status: 200, body: '/second sent' })
})
