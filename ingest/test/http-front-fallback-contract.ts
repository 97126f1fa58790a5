import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CreateHttpFront } from '../src/http/http-front.ts'
import { echoFallback, FrontUnderTest, testLimits } from './front-under-test.ts'
import { headText, requestText } from './raw-connection.ts'

/** The behaviour of every HttpFront for requests outside the hot routes, tested on raw sockets. */
export function describeFallback(name: string, create: () => Promise<CreateHttpFront>): void {
  describe(`fallback of the front: ${name}`, () => {
    let under: FrontUnderTest
    beforeEach(async () => {
      under = new FrontUnderTest(await create())
      await under.listen()
    })
    afterEach(() => under.close())
    describeRequests(() => under)
    describeAnswers(() => under)
    describeStreams(() => under)
  })
}

function describeRequests(under: () => FrontUnderTest): void {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'passes on %s requests unchanged',
    async (method) => {
      under().fallback = echoFallback
      const connection = await under().connect()
      const target = '/v1/sdk/things/a%2Fb?x=1&y=%20&x=2'
      await connection.write(
        requestText({ method, target, headers: { 'X-One': 'Yes' } }, '{"ü":1}'),
      )
      const received = JSON.parse((await connection.answer())!.body) as Record<string, unknown>
      expect(received).toMatchObject({
        method,
        target,
        body: '{"ü":1}',
        remoteAddress: '127.0.0.1',
      })
      expect(received['headers']).toContainEqual(['x-one', 'Yes'])
    },
  )

  it('joins a body that arrives in pieces', async () => {
    under().fallback = echoFallback
    const connection = await under().connect()
    const body = 'x'.repeat(testLimits.bodyBytesMax)
    const request = requestText({ target: '/any' }, body)
    for (let at = 0; at < request.length; at += 9_001) {
      await connection.write(request.slice(at, at + 9_001))
    }
    expect(JSON.parse((await connection.answer())!.body)).toMatchObject({ body })
  })

  it('sends the response that a failure is mapped to', async () => {
    under().fallback = () => Promise.reject(new Error('rejected'))
    const connection = await under().connect()
    await connection.write(headText({ method: 'GET', target: '/any' }))
    expect((await connection.answer())?.status).toBe(503)
    expect(under().failures).toEqual([new Error('rejected')])
  })

  it('aborts the fallback when the client disconnects', async () => {
    let signal: AbortSignal | undefined
    under().fallback = (request) => {
      signal = request.signal
      return new Promise(() => undefined)
    }
    const connection = await under().connect()
    await connection.write(headText({ method: 'GET', target: '/any' }))
    while (signal === undefined) await sleep(1)
    const aborted = once(signal, 'abort')
    connection.destroy()
    await aborted
  })
}

function describeAnswers(under: () => FrontUnderTest): void {
  it('sends status, repeated headers and body', async () => {
    under().fallback = async () => ({
      status: 404,
      headers: [
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ],
      body: Buffer.from('gone'),
    })
    const connection = await under().connect()
    await connection.write(headText({ method: 'GET', target: '/any' }))
    const text = await connection.until('gone')
    expect(text).toMatch(/^HTTP\/1.1 404 Not Found\r\n/)
    expect(text).toMatch(/set-cookie: a=1\r\n(.|\r\n)*set-cookie: b=2\r\n/i)
    expect(text).toMatch(/content-length: 4\r\n/i)
  })

  it('reports the length of the body that a response to HEAD omits', async () => {
    under().fallback = async () => ({
      status: 200,
      headers: [],
      body: undefined,
      reportedLength: 1234,
    })
    const connection = await under().connect()
    await connection.write(headText({ method: 'HEAD', target: '/any' }))
    expect(await connection.until('\r\n\r\n')).toMatch(/content-length: 1234\r\n/i)
  })

  it('sends a 204 without a length', async () => {
    under().fallback = async () => ({ status: 204, headers: [], body: undefined })
    const connection = await under().connect()
    await connection.write(headText({ method: 'DELETE', target: '/any' }))
    const text = await connection.until('\r\n\r\n')
    expect(text).toMatch(/^HTTP\/1.1 204 /)
    expect(text).not.toMatch(/content-length|transfer-encoding/i)
  })
}

function describeStreams(under: () => FrontUnderTest): void {
  it('sends a stream complete and in order', async () => {
    const pieces = Array.from({ length: 200 }, (_, index) => Buffer.alloc(10_000, index % 251))
    under().fallback = async () => ({ status: 200, headers: [], body: Readable.from(pieces) })
    const connection = await under().connect()
    await connection.write(headText({ method: 'GET', target: '/any' }))
    const answer = await connection.answer()
    expect(answer?.body).toBe(Buffer.concat(pieces).toString('utf8'))
    await connection.write(headText({ method: 'GET', target: '/any' }))
    expect((await connection.answer())?.status).toBe(200)
  })

  it('reads the stream only as fast as a slow client, and stops when the client disconnects', async () => {
    let produced = 0
    const body = new Readable({
      read() {
        produced += 64 * 1024
        this.push(Buffer.alloc(64 * 1024))
      },
    })
    under().fallback = async () => ({ status: 200, headers: [], body })
    const connection = await under().connect()
    connection.pause()
    await connection.write(headText({ method: 'GET', target: '/any' }))
    await sleep(300)
    // The buffers of the sockets hold a few megabytes. Without backpressure hundreds would be produced.
    expect(produced).toBeLessThan(32 * 1024 * 1024)
    const gone = once(body, 'close')
    connection.destroy()
    await gone
  })

  it('closes the connection when the source of a stream fails', async () => {
    const body = new Readable({ read: () => undefined })
    under().fallback = async () => ({ status: 200, headers: [], body })
    const connection = await under().connect()
    await connection.write(headText({ method: 'GET', target: '/any' }))
    body.push('half')
    await connection.until('half')
    body.destroy(new Error('the upstream died'))
    await connection.closed()
    expect(await connection.answer()).toBeUndefined()
  })
}
