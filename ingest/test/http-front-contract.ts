import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CreateHttpFront } from '../src/http/http-front.ts'
import { describeClosing } from './http-front-closing-contract.ts'
import { echoFallback, FrontUnderTest, sha256Of, testLimits } from './front-under-test.ts'
import { describeRequestIds, describeTraceHeaders } from './head-contract.ts'
import { headText, requestText, type RawConnection } from './raw-connection.ts'

/** The behaviour of every HttpFront for hot routes, tested on raw sockets. */
export function describeHotRoutes(name: string, create: () => Promise<CreateHttpFront>): void {
  describe(`hot routes of the front: ${name}`, () => {
    let under: FrontUnderTest
    beforeEach(async () => {
      under = new FrontUnderTest(await create())
      await under.listen()
    })
    afterEach(() => under.close())
    describeBodies(() => under)
    describeRefusals(() => under)
    describeAborts(() => under)
    describeClosing(() => under, create)
    describeTraceHeaders(create)
    describeRequestIds(() => under)
  })
}

function describeBodies(under: () => FrontUnderTest): void {
  it.each(['/echo', '/later'])(
    'passes on the head and a body that arrives in one piece (%s)',
    async (target) => {
      const connection = await under().connect()
      const headers = { Authorization: 'Bearer x', 'Content-Type': 'application/json' }
      await connection.write(requestText({ target, headers }, '{"a":1}'))
      const answer = await connection.answer()
      expect(answer?.status).toBe(200)
      expect(answer?.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(JSON.parse(answer!.body)).toEqual({
        authorization: 'Bearer x',
        contentType: 'application/json',
        bytes: 7,
        sha256: sha256Of('{"a":1}'),
      })
    },
  )

  it('passes on the keys of X-API-Key and Idempotency-Key', async () => {
    const connection = await under().connect()
    const headers = { 'X-API-Key': 'k', 'Idempotency-Key': 'i' }
    await connection.write(requestText({ target: '/keys', headers }, '{}'))
    const body: unknown = JSON.parse((await connection.answer())!.body)
    expect(body).toEqual({ authorization: 'Bearer k', idempotencyKey: 'i' })
  })

  it.each([
    ['/accents', '{"größe":"à ÿ"}'],
    ['/wide', '{"größe":"漢字"}'],
  ])('answers in UTF-8 (%s)', async (target, body) => {
    const connection = await under().connect()
    await connection.write(requestText({ target }, '{}'))
    expect((await connection.answer())?.body).toBe(body)
  })

  it('treats an absent body and absent headers as empty', async () => {
    const connection = await under().connect()
    await connection.write(headText({ target: '/echo' }))
    const body = JSON.parse((await connection.answer())!.body) as object
    expect(body).toMatchObject({ authorization: '', contentType: '', bytes: 0 })
  })

  it('joins a body that arrives byte by byte', async () => {
    const connection = await under().connect()
    const body = 'ü'.repeat(40)
    for (const byte of Buffer.from(requestText({ target: '/echo' }, body))) {
      await connection.write(Uint8Array.of(byte))
    }
    expect(JSON.parse((await connection.answer())!.body)).toMatchObject({
      bytes: 80,
      sha256: sha256Of(body),
    })
  })

  it('joins a large body that arrives in pieces', async () => {
    const connection = await under().connect()
    const body = 'x'.repeat(testLimits.bodyBytesMax)
    const request = requestText({ target: '/echo' }, body)
    for (let at = 0; at < request.length; at += 7_001) {
      await connection.write(request.slice(at, at + 7_001))
      await sleep(1)
    }
    expect(JSON.parse((await connection.answer())!.body)).toMatchObject({ sha256: sha256Of(body) })
  })

  it.each([
    ['a body', { 'content-length': '2' }, 'hi'],
    ['an empty body', { 'content-length': '0' }, ''],
    ['no length', {}, ''],
    ['a chunked body', { 'transfer-encoding': 'chunked' }, '2\r\nhi\r\n0\r\n\r\n'],
    ['an empty chunked body', { 'transfer-encoding': 'chunked' }, '0\r\n\r\n'],
  ])('answers a request with %s that is split in two at any position', async (_, headers, body) => {
    const request = headText({ target: '/later', headers }) + body
    // The native parser requires the first line in one packet and refuses it otherwise. It never treats half of it as a request.
    const refusedUpTo = under().front.kind === 'uws' ? request.indexOf('\r\n') + 1 : 0
    const places = Array.from({ length: request.length - 1 }, (_, index) => index + 1)
    const statuses = await Promise.all(
      places.map(async (place) => {
        const connection = await under().connect()
        await connection.write(request.slice(0, place))
        await sleep(10)
        await connection.write(request.slice(place))
        return (await connection.answer())?.status
      }),
    )
    const isRead = under().front.kind === 'node' || !('transfer-encoding' in headers)
    for (const [index, status] of statuses.entries()) {
      const place = index + 1
      expect({ place, status }).toEqual({
        place,
        status: place <= refusedUpTo && status === 505 ? 505 : isRead ? 200 : 411,
      })
    }
  })

  it('reads a chunked body that is split within its chunk heads', async () => {
    const connection = await under().connect()
    const headers = { 'transfer-encoding': 'chunked' }
    const parts = ['3\r', '\nabc\r\n1', '0\r\n0123456789', 'abcdef\r', '\n0\r\n\r\n']
    await connection.write(headText({ target: '/echo', headers }))
    if (await isRefusedAsChunked(under(), connection)) return
    for (const part of parts) {
      await connection.write(part)
      await sleep(2)
    }
    expect(JSON.parse((await connection.answer())!.body)).toMatchObject({
      bytes: 19,
      sha256: sha256Of('abc0123456789abcdef'),
    })
  })

  it('sends 100 Continue to a client that waits for it before it sends its body', async () => {
    const connection = await under().connect()
    const headers = { 'content-length': '2', expect: '100-continue' }
    await connection.write(headText({ target: '/echo', headers }))
    expect(await connection.until('\r\n\r\n')).toMatch(/^HTTP\/1.1 100 /)
    await connection.write('hi')
    expect(JSON.parse((await connection.answer())!.body)).toMatchObject({ bytes: 2 })
  })

  it('answers consecutive requests on one connection', async () => {
    const connection = await under().connect()
    for (const body of ['a', 'bb', 'ccc']) {
      await connection.write(requestText({ target: '/later' }, body))
      expect(JSON.parse((await connection.answer())!.body)).toMatchObject({ bytes: body.length })
    }
  })

  it('answers pipelined requests in order', async () => {
    const connection = await under().connect()
    const bodies = ['a', 'bb', 'ccc', 'dddd']
    await connection.write(bodies.map((body) => requestText({ target: '/later' }, body)).join(''))
    // A front may refuse pipelined requests and close the connection, but its responses are in order.
    for (const body of bodies) {
      const answer = await connection.answer()
      if (answer === undefined) break
      expect(JSON.parse(answer.body)).toMatchObject({ bytes: body.length })
    }
  })

  it('sends other statuses and additional headers', async () => {
    const connection = await under().connect()
    await connection.write(requestText({ target: '/created' }, ''))
    const answer = await connection.answer()
    expect(answer?.status).toBe(201)
    expect(answer?.headers.get('x-more')).toBe('yes')
    expect(under().refused).toEqual([201])
  })

  it.each([
    ['/throws', 'thrown'],
    ['/rejects', 'rejected'],
  ])('sends the response that a failure is mapped to (%s)', async (target, message) => {
    const connection = await under().connect()
    await connection.write(requestText({ target }, ''))
    expect((await connection.answer())?.status).toBe(503)
    expect(under().failures).toEqual([new Error(message)])
  })
}

/** uWebSockets.js does not accept chunked bodies, because its parser of chunks is not safe. */
async function isRefusedAsChunked(
  { front, calls }: FrontUnderTest,
  connection: RawConnection,
): Promise<boolean> {
  if (front.kind === 'node') return false
  const answer = await connection.answer()
  expect(answer?.status).toBe(411)
  expect(JSON.parse(answer!.body)).toMatchObject({ statusCode: 411, error: 'Length Required' })
  await connection.closed()
  expect(calls).toEqual([])
  return true
}

function describeRefusals(under: () => FrontUnderTest): void {
  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('answers 405 to %s', async (method) => {
    const connection = await under().connect()
    await connection.write(requestText({ method, target: '/echo' }, ''))
    const answer = await connection.answer()
    expect(answer?.status).toBe(405)
    expect(answer?.headers.get('allow')).toBe('POST')
    expect(JSON.parse(answer!.body)).toMatchObject({ statusCode: 405, error: 'Method Not Allowed' })
    expect(JSON.parse(answer!.body)).toMatchObject({
      code: 'method_not_allowed',
      requestId: answer?.headers.get('x-request-id'),
    })
  })

  it('answers HEAD with 405 and without a body', async () => {
    const connection = await under().connect()
    await connection.write(headText({ method: 'HEAD', target: '/echo' }))
    const head = await connection.until('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1.1 405 /)
    await sleep(20)
    expect(head.split('\r\n\r\n')[1]).toBe('')
    expect(connection.receivedBytes).toBe(0)
  })

  it('passes OPTIONS to the fallback', async () => {
    under().fallback = echoFallback
    const connection = await under().connect()
    await connection.write(headText({ method: 'OPTIONS', target: '/echo' }))
    expect(JSON.parse((await connection.answer())!.body)).toMatchObject({ method: 'OPTIONS' })
  })

  it.each(['/echo', '/elsewhere'])(
    'answers 413 to a body announced as too large, once it is read (%s)',
    async (target) => {
      const connection = await under().connect()
      await connection.write(requestText({ target }, 'x'.repeat(testLimits.bodyBytesMax + 1)))
      const answer = await connection.answer()
      expect(answer?.status).toBe(413)
      expect(JSON.parse(answer!.body)).toMatchObject({
        statusCode: 413,
        error: 'Payload Too Large',
        requestId: answer?.headers.get('x-request-id'),
      })
      // The connection can be used for the next request.
      await connection.write(requestText({ target: '/created' }, 'x'))
      expect((await connection.answer())?.status).toBe(201)
      expect(under().calls).toEqual(['/created'])
    },
  )

  it('answers 413 to a chunked body that grows too large', async () => {
    const connection = await under().connect()
    const headers = { 'transfer-encoding': 'chunked' }
    await connection.write(headText({ target: '/echo', headers }))
    if (await isRefusedAsChunked(under(), connection)) return
    const chunk = `${(10_000).toString(16)}\r\n${'x'.repeat(10_000)}\r\n`
    for (let index = 0; index < 12; index++) await connection.write(chunk)
    await connection.write('0\r\n\r\n')
    expect((await connection.answer())?.status).toBe(413)
    expect(under().calls).toEqual([])
  })

  it.each([
    ['announced', { 'content-length': '99999999999' }, ''],
    ['chunked', { 'transfer-encoding': 'chunked' }, `${(64 * 1024).toString(16)}\r\n`],
  ])(
    'stops reading an endless body (%s): sends 413, then closes the connection',
    async (_, headers, chunkHead) => {
      const connection = await under().connect()
      await connection.write(headText({ target: '/echo', headers }))
      if (chunkHead !== '' && (await isRefusedAsChunked(under(), connection))) return
      const chunkEnd = chunkHead === '' ? '' : '\r\n'
      const piece = Buffer.from(chunkHead + 'x'.repeat(64 * 1024) + chunkEnd)
      let writtenBytes = 0
      while (!connection.isClosed && writtenBytes < 200_000_000) {
        await connection.write(piece)
        writtenBytes += piece.byteLength
      }
      expect(connection.isClosed).toBe(true)
      expect(writtenBytes).toBeLessThan(20_000_000)
      expect(under().refused).toEqual([413])
    },
  )

  it('refuses a request by its head while the body is still arriving', async () => {
    const connection = await under().connect()
    const headers = { authorization: 'no', 'content-length': '20000' }
    await connection.write(headText({ target: '/echo', headers }))
    for (let index = 0; index < 20; index++) {
      await connection.write('x'.repeat(1000))
      await sleep(1)
    }
    expect((await connection.answer())?.status).toBe(401)
    expect(under().calls).toEqual([])
  })

  it('bounds the bytes of unfinished bodies', async () => {
    const connections = await Promise.all(Array.from({ length: 8 }, () => under().connect()))
    const headers = { 'content-length': '90001' }
    for (const connection of connections) {
      await connection.write(headText({ target: '/echo', headers }))
      await connection.write('x'.repeat(90_000))
    }
    await sleep(100)
    for (const connection of connections) await connection.write('x')
    const answers = await Promise.all(connections.map((connection) => connection.answer()))
    const statuses = answers.map((answer) => answer?.status)
    const taken = statuses.filter((status) => status === 200).length
    expect([2, 3]).toContain(taken)
    expect(statuses.filter((status) => status === 503).length).toBe(8 - taken)
    expect(answers.find((answer) => answer?.status === 503)?.headers.get('retry-after')).toBe('1')
    // The memory of the refused bodies has been released.
    const next = await under().connect()
    await next.write(requestText({ target: '/echo' }, 'x'.repeat(90_000)))
    expect((await next.answer())?.status).toBe(200)
  })
}

function describeAborts(under: () => FrontUnderTest): void {
  const request = requestText({ target: '/later' }, 'x'.repeat(50_000))

  it.each([
    ['in the first line', 5],
    ['in the head', 40],
    ['after the head', request.indexOf('\r\n\r\n') + 4],
    ['in the body', 20_000],
    ['before the last byte', request.length - 1],
    ['while the answer is made', request.length],
  ])('survives a client that disconnects %s', async (_, length) => {
    for (let index = 0; index < 20; index++) {
      const connection = await under().connect()
      await connection.write(request.slice(0, length))
      if (index % 2 === 0) await sleep(1)
      connection.destroy()
    }
    await sleep(30)
    const connection = await under().connect()
    await connection.write(request)
    expect((await connection.answer())?.status).toBe(200)
    expect(under().failures).toEqual([])
  })

  it('answers malformed bytes with an error or by closing the connection, and stays up', async () => {
    for (const garbage of [
      '\0\0\0\0\r\n\r\n',
      'POST\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      '\r\n'.repeat(50),
    ]) {
      const connection = await under().connect()
      await connection.write(garbage)
      await sleep(5)
      connection.destroy()
    }
    const connection = await under().connect()
    await connection.write(request)
    expect((await connection.answer())?.status).toBe(200)
  })
}
