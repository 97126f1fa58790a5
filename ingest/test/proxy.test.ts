import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Installation } from './installation.ts'
import { headText, RawConnection, requestText } from './raw-connection.ts'

describe('requests that are forwarded to the control plane', () => {
  let installation: Installation
  beforeEach(async () => {
    installation = await Installation.start()
  })
  afterEach(() => installation.remove())

  /** Makes the control plane respond with the request that it received. */
  const reflect = (): void => {
    installation.controlPlane = (request, response) => {
      void readBody(request).then((body) => {
        response.writeHead(201, {
          'content-type': 'application/json',
          connection: 'keep-alive, x-hop',
          'x-hop': '1',
          'set-cookie': ['a=1', 'b=2'],
        })
        const { method, url, headers } = request
        response.end(JSON.stringify({ method, url, headers, body }))
      })
    }
  }

  it('arrive complete, without the headers of the connection', async () => {
    reflect()
    const connection = await RawConnection.open(installation.port)
    const headers = {
      host: 'api.example.com',
      authorization: 'Bearer x',
      connection: 'keep-alive, x-private',
      'x-private': 'secret',
      'x-forwarded-for': '6.6.6.6',
      'x-forwarded-host': 'evil.example.com',
      te: 'trailers',
      expect: '100-continue',
      'x-kept': 'yes',
    }
    const target = '/v1/sdk/products/a%2Fb?limit=2&x=%C3%BC'
    await connection.write(requestText({ method: 'PUT', target, headers }, '{"name":"ü"}'))
    await connection.until('100 Continue\r\n\r\n')
    const answer = await connection.answer()
    connection.destroy()
    expect(answer?.status).toBe(201)
    expect(answer?.headers.has('x-hop')).toBe(false)
    const told = JSON.parse(answer!.body) as { headers: Record<string, string> }
    expect(told).toMatchObject({ method: 'PUT', url: target, body: '{"name":"ü"}' })
    expect(told.headers).toMatchObject({
      authorization: 'Bearer x',
      'x-kept': 'yes',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'api.example.com',
    })
    for (const name of ['x-private', 'te', 'expect']) expect(told.headers).not.toHaveProperty(name)
  })

  it("get the control plane's status, cookies and 404", async () => {
    reflect()
    const created = await installation.send('/v1/sdk/products', { method: 'POST', body: '{}' })
    expect(created.status).toBe(201)
    expect(created.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    installation.controlPlane = (_, response) => response.writeHead(404).end('{"statusCode":404}')
    const missing = await installation.send('/nowhere', {})
    expect([missing.status, missing.body]).toEqual([404, { statusCode: 404 }])
  })

  it('get large responses streamed in order', async () => {
    const piece = Buffer.alloc(100_000, 'x')
    installation.controlPlane = (_, response) => {
      void (async () => {
        for (let index = 0; index < 100; index++) {
          if (!response.write(piece)) await once(response, 'drain')
        }
        response.end('end')
      })()
    }
    const response = await fetch(`http://127.0.0.1:${installation.port}/export`)
    const text = await response.text()
    expect(text.length).toBe(10_000_003)
    expect(text.endsWith('xend')).toBe(true)
  })

  it('are answered for HEAD and OPTIONS', async () => {
    installation.controlPlane = (request, response) => {
      if (request.method === 'OPTIONS') response.writeHead(204, { allow: 'GET' }).end()
      else response.writeHead(200, { 'content-length': 12_345, etag: '"1"' }).end()
    }
    const url = `http://127.0.0.1:${installation.port}/v1/openapi.json`
    const head = await fetch(url, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe('12345')
    expect(head.headers.get('etag')).toBe('"1"')
    const options = await fetch(url, { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET'])
  })

  it('are aborted when the client disconnects', async () => {
    const arrived = new Promise<IncomingMessage>((resolve) => {
      installation.controlPlane = (request) => resolve(request)
    })
    const connection = await RawConnection.open(installation.port)
    await connection.write(headText({ method: 'GET', target: '/slow' }))
    const request = await arrived
    const gone = once(request.socket, 'close')
    connection.destroy()
    await gone
  })

  it('are refused with 413 for a body over the bound, and with 405 for an unknown method', async () => {
    reflect()
    const body = 'x'.repeat(1_048_577)
    const large = await installation.send('/v1/sdk/products', { method: 'POST', body })
    expect([large.status, large.body['statusCode']]).toEqual([413, 413])
    const connection = await RawConnection.open(installation.port)
    await connection.write(headText({ method: 'TRACE', target: '/' }))
    const answer = await connection.answer()
    expect([answer?.status, JSON.parse(answer!.body)]).toMatchObject([405, { statusCode: 405 }])
    connection.destroy()
  })

  it('are answered with 503 while the control plane is down, and succeed when it is back', async () => {
    await installation.stopControlPlane()
    const reply = await installation.send('/v1/sdk/products', {})
    expect(reply.status).toBe(503)
    expect(reply.headers.get('retry-after')).toBe('1')
    expect(reply.body).toMatchObject({ statusCode: 503, error: 'Service Unavailable' })
    const key = await installation.createKey()
    const usage = await installation.post('/v1/sdk/usages', key, { customerRef: 'u' })
    expect(usage.status).toBe(200)
  })

  it('are cut off when the control plane closes the connection', async () => {
    installation.controlPlane = (_, response) => {
      response.writeHead(200)
      response.write('half')
      void sleep(20).then(() => response.destroy())
    }
    const response = await fetch(`http://127.0.0.1:${installation.port}/export`)
    await expect(response.text()).rejects.toThrow()
  })
})

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString('utf8')
}
